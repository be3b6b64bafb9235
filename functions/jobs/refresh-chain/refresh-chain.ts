import type { Address } from 'viem'
import { clientsFinder } from '../../../lib/clients/find-clients.ts'
import type { KnownVault } from '../../../lib/follow/known-vault.ts'
import { LAST_WRITES_MS, recordShard } from '../../../lib/follow/record-shard.ts'
import { numberOfRun } from '../../../lib/follow/run.ts'
import { listShards, MAX_IN_SHARD, rotate } from '../../../lib/follow/shards.ts'
import type { VaultOnChain } from '../../../lib/protocols/vault-on-chain.ts'
import type { Services } from '../../../lib/services.ts'
import type { Notice } from '../../../lib/webhooks/event.ts'
import { publish } from '../../../lib/webhooks/publish.ts'
import { followTransfers } from './follow-transfers.ts'
import { getPaidToken, publishTransfers } from './publish-transfers.ts'

type Dependencies = Omit<Parameters<typeof recordShard>[0], 'findClients'> &
  Services<'listedVaults' | 'transfers' | 'sources' | 'enqueueShards'>

/** The share of a run's time that transfers may use. */
const TRANSFERS_SHARE = 1 / 3

export function refreshChain(dependencies: Dependencies, { maxInShard = MAX_IN_SHARD } = {}) {
  const { listedVaults, records, transfers, sources, getReader, enqueueShards, now } = dependencies
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
      // They go behind all other due transfers, so that those are polled.
      await Promise.all(later.waiting.map(({ key }) => transfers.postpone(key, new Date(now()))))
    }
    if (vaults.length === 0) return { chainId, outcome: 'no vaults' as const, ...followed, untoldVaults: untold }
    const sentTokens = new Set(waiting.map(getPaidToken))

    const shards = listShards(vaults.length, maxInShard)
    if (shards.length > 1) {
      const inOrder = rotate(shards, numberOfRun(begun))
      await enqueueShards(inOrder.map((shard) => ({ chainId, shard, askedAt: begun })))
      await publishWaiting(
        await findKnown(
          records,
          vaults.filter(({ asset }) => sentTokens.has(asset)),
        ),
      )
      const counts = { shards: shards.length, vaults: vaults.length, untoldVaults: untold }
      return { chainId, outcome: 'enqueued' as const, ...followed, ...counts }
    }

    const report = await recordShard(
      { ...dependencies, findClients },
      { chainId, vaults, sentTokens, onKnown: publishWaiting },
      begun + usable,
    )
    const untoldVaults = report.untoldVaults + untold
    return { chainId, outcome: 'refreshed' as const, ...followed, ...report, untoldVaults }
  }
}

/** Reads how far vaults are recorded that other runs record. */
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
