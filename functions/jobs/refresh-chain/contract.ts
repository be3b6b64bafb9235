import * as z from 'zod'
import { RunReport } from '../../../lib/activity/recording/report.ts'
import { ChainId, EVM_CHAINS } from '../../../lib/chain/registry.ts'
import type { JobContract } from '../../../lib/frame/contract.ts'

const Followed = {
  chainId: ChainId,
  openTransfers: z
    .number()
    .int()
    .describe('Transfers from this chain that were due and had no final status; at most 100'),
  endedTransfers: z.number().int().describe('Those of them that came to their end'),
  untoldVaults: RunReport.shape.untoldVaults,
}

export const contract = {
  summary:
    "Records what happened in one chain's vaults: deposits, withdrawals, prices and states, block by final block.",
  uses: {
    clients: ['Query', 'BatchGetItem'],
    deposits: ['Query', 'Query followedTransfers', 'BatchGetItem', 'PutItem', 'BatchWriteItem', 'UpdateItem'],
    webhooks: ['GetItem', 'BatchGetItem', 'BatchWriteItem'],
    eventQueue: true,
    groupQueue: true,
    config: true,
  },
  event: z.object({ chainId: ChainId }),
  report: z.discriminatedUnion('outcome', [
    z.object({ outcome: z.enum(['no vaults', 'another run is at work']), ...Followed }),
    z.object({
      outcome: z.literal('refreshed'),
      ...Followed,
      groups: z
        .number()
        .int()
        .describe(
          'In how many groups its vaults are recorded, each by a run of its own: of more than one, what their last runs said',
        ),
      ...RunReport.shape,
    }),
  ]),
  // Each costs $0.30 a month for each chain: what one would draw, and the rest is in the log.
  metrics: {
    lagSeconds: 'Seconds',
    behind: 'Count',
    entries: 'Count',
    openTransfers: 'Count',
    changedVaults: 'Count',
    untoldVaults: 'Count',
  },
  heartbeat: 'openTransfers',
  everyMinutes: 1,
  runs: EVM_CHAINS.map(({ id }) => ({ chainId: id })),
  isWitnessed: true,
  impact:
    'Positions and histories take longer, and yields and the states of unreachable chains grow old; after two days without records vaults are left out.',
} as const satisfies JobContract
