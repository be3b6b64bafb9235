import { LAST_WRITES_MS, recordGroup } from '../../../lib/activity/recording/record-group.ts'
import type { GroupKey } from '../../../lib/activity/recording/runs-store.ts'
import { addressesOf } from '../../../lib/activity/recording/vault-groups.ts'
import { clientsFinder } from '../../../lib/clients/find-clients.ts'
import type { Services } from '../../../lib/services.ts'

type Dependencies = Omit<Parameters<typeof recordGroup>[0], 'findClients'> & Services<'listedVaults'>

export function refreshGroup(dependencies: Dependencies) {
  const { listedVaults, now } = dependencies
  return async (
    { chainId, group, askedAt }: GroupKey & { readonly askedAt: number },
    { remainingMs }: { remainingMs: () => number },
  ) => {
    const until = now() + Math.max(0, remainingMs() - LAST_WRITES_MS)
    const report = await recordGroup(
      { ...dependencies, findClients: clientsFinder(listedVaults) },
      { chainId, group, listVaults: () => listedVaults.list(chainId, addressesOf(group)), askedAt },
      until,
    )
    if (!report) return { chainId, group, outcome: 'nothing to do' as const }
    return { chainId, group, outcome: 'refreshed' as const, ...report }
  }
}
