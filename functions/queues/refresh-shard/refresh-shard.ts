import type * as z from 'zod'
import { clientsFinder } from '../../../lib/clients/find-clients.ts'
import { LAST_WRITES_MS, recordShard } from '../../../lib/follow/record-shard.ts'
import { RUN_METRICS } from '../../../lib/follow/report.ts'
import { addressesOf } from '../../../lib/follow/shards.ts'
import type { measure } from '../../../lib/frame/metrics.ts'
import type { Services } from '../../../lib/services.ts'
import type { contract } from './contract.ts'

type Dependencies = Omit<Parameters<typeof recordShard>[0], 'findClients'> &
  Services<'listedVaults'> & { readonly measure: typeof measure }

/** A message that has waited longer is dropped: the next minute's message asks for the same. */
const MAX_WAIT_MS = 90_000

export function refreshShard(dependencies: Dependencies) {
  const { listedVaults, measure, now } = dependencies
  return async (
    { chainId, shard, askedAt }: z.output<typeof contract.message>,
    { remainingMs }: { remainingMs: () => number },
  ) => {
    if (now() - askedAt > MAX_WAIT_MS) return { chainId, shard, outcome: 'too late' as const }
    const until = now() + Math.max(0, remainingMs() - LAST_WRITES_MS)
    const vaults = await listedVaults.list(chainId, addressesOf(shard))
    if (vaults.length === 0) return { chainId, shard, outcome: 'no vaults' as const }
    const report = await recordShard(
      { ...dependencies, findClients: clientsFinder(listedVaults) },
      { chainId, vaults },
      until,
    )
    measure(RUN_METRICS, { dimensions: { chainId }, report })
    return { chainId, shard, outcome: 'refreshed' as const, ...report }
  }
}
