import type { Address } from 'viem'
import type { KnownVault } from '../../../lib/activity/recording/known-vault.ts'
import { LAST_WRITES_MS, recordGroup } from '../../../lib/activity/recording/record-group.ts'
import { ALL_VAULTS, divide, MOST_IN_GROUP } from '../../../lib/activity/recording/vault-groups.ts'
import { evmChain } from '../../../lib/chain/registry.ts'
import { clientsFinder } from '../../../lib/clients/find-clients.ts'
import type { VaultOnChain } from '../../../lib/protocols/vault-on-chain.ts'
import type { Services } from '../../../lib/services.ts'
import type { Notice } from '../../../lib/webhooks/event.ts'
import { publish } from '../../../lib/webhooks/publish.ts'
import { followTransfers } from './follow-transfers.ts'
import { getPaidToken, publishTransfers } from './publish-transfers.ts'
import { sumUp } from './sum-up.ts'

type Dependencies = Omit<Parameters<typeof recordGroup>[0], 'findClients'> &
  Services<'listedVaults' | 'runs' | 'records' | 'transfers' | 'sources' | 'wakeGroups'>

/** The share of a run's time that transfers may use. */
const TRANSFERS_SHARE = 1 / 3
/** Milliseconds from one run to the next. */
const RUN_EVERY_MS = 60_000

export function refreshChain(dependencies: Dependencies, { mostInGroup = MOST_IN_GROUP } = {}) {
  const { listedVaults, runs, records, transfers, sources, getReader, wakeGroups, now } = dependencies
  return async ({ chainId }: { chainId: number }, { remainingMs }: { remainingMs: () => number }) => {
    const begun = now()
    const usable = Math.max(0, remainingMs() - LAST_WRITES_MS)
    const { ended, ...followed } = await followTransfers(
      { getReader, transfers, sources, now },
      chainId,
      begun + usable * TRANSFERS_SHARE,
    )
    const vaults = await listedVaults.list(chainId)
    const findClients = clientsFinder(listedVaults)
    const publishTo = async (notices: readonly Notice[], of: (notice: Notice) => readonly string[]) => {
      await publish(dependencies, notices, of)
    }
    const publishEnded = (of: Pick<Parameters<typeof publishTransfers>[1], 'ended' | 'known'>) =>
      publishTransfers({ findClients, records, transfers, publish: publishTo, now }, { chainId, vaults, ...of })
    const { unpublished, waiting } = await publishEnded({ ended, known: undefined })
    let untold = unpublished
    const publishWaiting = async (known: ReadonlyMap<Address, KnownVault>) => {
      const later = await publishEnded({ ended: waiting, known })
      untold += later.unpublished
      // Behind all others that are due, so that they keep none of them from being polled.
      await Promise.all(later.waiting.map(({ key }) => transfers.postpone(key, new Date(now()))))
    }
    const groups = divide(vaults, mostInGroup)
    if (groups.length === 0) return { chainId, outcome: 'no vaults' as const, ...followed, untoldVaults: untold }
    const sentTokens = new Set(waiting.map(getPaidToken))

    if (groups.length > 1) {
      await wakeGroups(groups.map((group) => ({ chainId, group, askedAt: begun })))
      await publishWaiting(
        await findKnown(
          records,
          vaults.filter(({ asset }) => sentTokens.has(asset)),
        ),
      )
      const chain = evmChain(chainId)
      const report = sumUp(await runs.listLast(chainId), { chain, groups, now: now(), since: now() - RUN_EVERY_MS })
      return {
        chainId,
        outcome: 'refreshed' as const,
        groups: groups.length,
        ...followed,
        ...report,
        vaults: vaults.length,
        untoldVaults: report.untoldVaults + untold,
      }
    }

    const report = await recordGroup(
      { ...dependencies, findClients },
      { chainId, group: ALL_VAULTS, listVaults: async () => vaults, sentTokens, onKnown: publishWaiting },
      begun + usable,
    )
    if (!report) return { chainId, outcome: 'another run is at work' as const, ...followed, untoldVaults: untold }
    return {
      chainId,
      outcome: 'refreshed' as const,
      groups: 1,
      ...followed,
      ...report,
      untoldVaults: report.untoldVaults + untold,
    }
  }
}

/** What the table knows of vaults that are recorded by other runs. */
async function findKnown(
  records: Pick<Dependencies['records'], 'getProgress'>,
  vaults: readonly VaultOnChain[],
): Promise<ReadonlyMap<Address, KnownVault>> {
  const progress = await records.getProgress(vaults)
  return new Map(
    vaults.flatMap(({ address }, index): [Address, KnownVault][] => {
      const { through } = progress[index] ?? {}
      return through === undefined ? [] : [[address, { recorded: through, through, entries: [] }]]
    }),
  )
}
