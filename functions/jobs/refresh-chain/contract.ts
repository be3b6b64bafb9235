import * as z from 'zod'
import { ChainId, EVM_CHAINS } from '../../../lib/chain/registry.ts'
import { RunReport } from '../../../lib/follow/report.ts'
import type { JobContract } from '../../../lib/frame/contract.ts'

const Followed = {
  chainId: ChainId,
  openTransfers: z
    .number()
    .int()
    .describe('Transfers from this chain that were due without a final status; at most 100'),
  endedTransfers: z.number().int().describe('Due transfers that reached a final status'),
  unreportedVaults: RunReport.shape.unreportedVaults,
}

export const contract = {
  summary: "Records the final blocks of one chain's vaults: deposits, withdrawals, prices and states.",
  uses: {
    // The actions Scan, ConditionCheckItem, PutItem and UpdateItem add vaults that are missing from the chain's stored list.
    clients: ['Query', 'BatchGetItem', 'Scan', 'ConditionCheckItem', 'PutItem', 'UpdateItem'],
    deposits: [
      'GetItem',
      'Query',
      'Query followedTransfers',
      'BatchGetItem',
      'PutItem',
      'DeleteItem',
      'BatchWriteItem',
      'UpdateItem',
    ],
    cache: ['BatchGetItem', 'PutItem'],
    webhooks: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'],
    deliveryQueue: true,
    shardQueue: true,
    config: true,
  },
  event: z.object({ chainId: ChainId }),
  report: z.discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('no vaults'), ...Followed }),
    z.object({
      outcome: z.literal('enqueued'),
      ...Followed,
      shards: z.number().int().describe('Number of shards of the vaults; each has a run and a report of its own'),
      vaults: RunReport.shape.vaults,
    }),
    z.object({ outcome: z.literal('refreshed'), ...Followed, ...RunReport.shape }),
  ]),
  everyMinutes: 1,
  runs: EVM_CHAINS.map(({ id }) => ({ chainId: id })),
  needsAgreement: true,
  impact:
    'Positions and histories load slower; yields and the states of unreachable chains get old. After two days without records, lists omit the vaults.',
} as const satisfies JobContract
