import { clientsFinder } from '../../../lib/clients/find-clients.ts'
import { LAST_WRITES_MS, recordShard } from '../../../lib/follow/record-shard.ts'
import { numberOfRun } from '../../../lib/follow/run.ts'
import { listShards, MAX_IN_SHARD, rotate } from '../../../lib/follow/shards.ts'
import type { Services } from '../../../lib/services.ts'
import { publish } from '../../../lib/webhooks/append.ts'
import type { Notice } from '../../../lib/webhooks/event.ts'
import { findTransfers } from './find-transfers.ts'
import { followTransfers } from './follow-transfers.ts'
import { publishTransfers } from './publish-transfers.ts'

type Dependencies = Omit<Parameters<typeof recordShard>[0], 'findClients'> &
  Services<'listedVaults' | 'transfers' | 'quotes' | 'sources' | 'fetchHint' | 'enqueueShards'>

/** The share of a run's time that transfers may use. */
const TRANSFERS_SHARE = 1 / 3

export function refreshChain(dependencies: Dependencies, { maxInShard = MAX_IN_SHARD } = {}) {
  const { listedVaults, transfers, enqueueShards, now } = dependencies
  return async ({ chainId }: { chainId: number }, { remainingMs }: { remainingMs: () => number }) => {
    const begun = now()
    const usable = Math.max(0, remainingMs() - LAST_WRITES_MS)
    await findTransfers(dependencies, chainId)
    const until = begun + usable * TRANSFERS_SHARE
    const { ended, ...followed } = await followTransfers(dependencies, chainId, until)
    const vaults = await listedVaults.list(chainId)
    const findClients = clientsFinder(listedVaults)
    const publishTo = async (notices: readonly Notice[], of: (notice: Notice) => readonly string[]) => {
      await publish(dependencies, notices, of)
    }
    const untold = await publishTransfers({ findClients, transfers, publish: publishTo, now }, chainId, ended)
    if (vaults.length === 0) return { chainId, outcome: 'no vaults' as const, ...followed, untoldVaults: untold }

    const shards = listShards(vaults.length, maxInShard)
    if (shards.length > 1) {
      const inOrder = rotate(shards, numberOfRun(begun))
      await enqueueShards(inOrder.map((shard) => ({ chainId, shard, askedAt: begun })))
      const counts = { shards: shards.length, vaults: vaults.length, untoldVaults: untold }
      return { chainId, outcome: 'enqueued' as const, ...followed, ...counts }
    }

    const report = await recordShard({ ...dependencies, findClients }, { chainId, vaults }, begun + usable)
    const untoldVaults = report.untoldVaults + untold
    return { chainId, outcome: 'refreshed' as const, ...followed, ...report, untoldVaults }
  }
}
