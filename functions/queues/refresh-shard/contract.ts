import * as z from 'zod'
import { ChainId } from '../../../lib/chain/registry.ts'
import { RunReport } from '../../../lib/follow/report.ts'
import { Shard } from '../../../lib/follow/shards.ts'
import type { QueueContract } from '../../../lib/frame/contract.ts'

const OfShard = { chainId: ChainId, shard: Shard }

export const contract = {
  summary: 'Records the events of one shard of vaults, for a chain with too many vaults for one run.',
  uses: {
    clients: ['Query', 'BatchGetItem'],
    deposits: ['Query', 'BatchGetItem', 'PutItem', 'BatchWriteItem', 'UpdateItem'],
    webhooks: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'],
    deliveryQueue: true,
    config: true,
  },
  queue: 'shardQueue',
  message: z.object({
    ...OfShard,
    askedAt: z.number().int().describe('Epoch milliseconds; dropped after 90 seconds'),
  }),
  report: z.discriminatedUnion('outcome', [
    z.object({ outcome: z.enum(['no vaults', 'too late']), ...OfShard }),
    z.object({ outcome: z.literal('refreshed'), ...OfShard, ...RunReport.shape }),
  ]),
  timeoutSeconds: 50,
  // Maximum number of concurrent runs for all chains together. Each run sends at most eight requests to one node URL in parallel.
  maxConcurrency: 4,
  batchSize: 1,
  needsAgreement: true,
  impact:
    'On chains with more than 1,000 vaults, positions and histories load slower; yields and the states of unreachable chains get old. After two days without records, lists omit the vaults.',
} as const satisfies QueueContract
