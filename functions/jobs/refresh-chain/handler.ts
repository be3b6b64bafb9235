import { createClientsFinder } from '../../../lib/clients/find-clients.ts'
import { logger } from '../../../lib/core/logger.ts'
import { LAST_WRITES_MS, recordShard } from '../../../lib/follow/record-shard.ts'
import { computeRunNumber } from '../../../lib/follow/run.ts'
import { listShards, rotateShards } from '../../../lib/follow/shards.ts'
import { job } from '../../../lib/frame/job.ts'
import {
  depositSources,
  enqueueShards,
  fetchHint,
  listedVaults,
  quotes,
  relistVaults,
  type Services,
  shardServices,
  transfers,
} from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { findTransfers } from './find-transfers.ts'
import { followTransfers } from './follow-transfers.ts'
import { publishTransfers } from './publish-transfers.ts'

type ChainServices = Omit<Parameters<typeof recordShard>[0], 'findClients'> &
  Services<'listedVaults' | 'relistVaults' | 'transfers' | 'quotes' | 'depositSources' | 'fetchHint' | 'enqueueShards'>

/** Maximum fraction of a run's time for following cross-chain transfers. The rest of the time is for the vaults. */
const TRANSFERS_SHARE = 1 / 3

export function refreshChain(dependencies: ChainServices, { maxInShard }: { readonly maxInShard?: number } = {}) {
  const { listedVaults, relistVaults, enqueueShards, now } = dependencies
  return async ({ chainId }: { chainId: number }, { remainingMs }: { remainingMs: () => number }) => {
    const begun = now()
    const usable = Math.max(0, remainingMs() - LAST_WRITES_MS)
    await findTransfers(dependencies, chainId)
    const until = begun + usable * TRANSFERS_SHARE
    const { ended, ...followed } = await followTransfers(dependencies, chainId, until)
    // A failure to add vaults that are missing from the stored list is only logged, so the run continues.
    await relistVaults().catch((error: unknown) => logger.error('vaults not listed again', { reason: String(error) }))
    const vaults = await listedVaults.list(chainId)
    const findClients = createClientsFinder(listedVaults)
    const unreported = await publishTransfers({ ...dependencies, findClients }, chainId, ended)
    if (vaults.length === 0)
      return { chainId, outcome: 'no vaults' as const, ...followed, unreportedVaults: unreported }

    const shards = listShards(vaults.length, maxInShard)
    if (shards.length > 1) {
      const inOrder = rotateShards(shards, computeRunNumber(begun))
      await enqueueShards(inOrder.map((shard) => ({ chainId, shard, askedAt: begun })))
      const counts = { shards: shards.length, vaults: vaults.length, unreportedVaults: unreported }
      return { chainId, outcome: 'enqueued' as const, ...followed, ...counts }
    }

    const report = await recordShard({ ...dependencies, findClients }, { chainId, vaults }, begun + usable)
    const unreportedVaults = report.unreportedVaults + unreported
    return { chainId, outcome: 'refreshed' as const, ...followed, ...report, unreportedVaults }
  }
}

export const handler = job(
  contract,
  { ...shardServices, depositSources, enqueueShards, fetchHint, listedVaults, quotes, relistVaults, transfers },
  refreshChain,
)
