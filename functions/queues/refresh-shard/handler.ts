import type * as z from 'zod'
import { createClientsFinder } from '../../../lib/clients/find-clients.ts'
import { LAST_WRITES_MS, recordShard } from '../../../lib/follow/record-shard.ts'
import { listAddressRange } from '../../../lib/follow/shards.ts'
import { consumer, handleEach } from '../../../lib/frame/consumer.ts'
import { listedVaults, type Services, shardServices } from '../../../lib/services.ts'
import { contract } from './contract.ts'

/** Maximum age of a message. An older message is skipped, because refresh-chain enqueues the same work again every minute. */
const MAX_WAIT_MS = 90_000

export function refreshShard(
  dependencies: Omit<Parameters<typeof recordShard>[0], 'findClients'> & Services<'listedVaults'>,
) {
  const { listedVaults, now } = dependencies
  return async (
    { chainId, shard, askedAt }: z.output<typeof contract.message>,
    { remainingMs }: { remainingMs: () => number },
  ) => {
    if (now() - askedAt > MAX_WAIT_MS) return { chainId, shard, outcome: 'too late' as const }
    const until = now() + Math.max(0, remainingMs() - LAST_WRITES_MS)
    const vaults = await listedVaults.list(chainId, listAddressRange(shard))
    if (vaults.length === 0) return { chainId, shard, outcome: 'no vaults' as const }
    const report = await recordShard(
      { ...dependencies, findClients: createClientsFinder(listedVaults) },
      { chainId, vaults },
      until,
    )
    return { chainId, shard, outcome: 'refreshed' as const, ...report }
  }
}

export const handler = consumer(contract, { ...shardServices, listedVaults }, (services) =>
  handleEach(refreshShard(services)),
)
