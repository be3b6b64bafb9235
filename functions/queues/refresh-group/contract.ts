import * as z from 'zod'
import { RunReport } from '../../../lib/activity/recording/report.ts'
import { VaultGroup } from '../../../lib/activity/recording/vault-groups.ts'
import { ChainId } from '../../../lib/chain/registry.ts'
import type { QueueContract } from '../../../lib/frame/contract.ts'

const OfGroup = { chainId: ChainId, group: VaultGroup }

export const contract = {
  summary: 'Records the events of one group of vaults, for a chain with too many vaults for one run.',
  uses: {
    clients: ['Query', 'BatchGetItem'],
    deposits: ['Query', 'BatchGetItem', 'BatchWriteItem', 'UpdateItem'],
    webhooks: ['GetItem', 'BatchGetItem', 'BatchWriteItem'],
    eventQueue: true,
    config: true,
  },
  queue: 'groupQueue',
  message: z.object({
    ...OfGroup,
    askedAt: z.number().int().describe("Epoch milliseconds. Ignored if the group's run began later"),
  }),
  report: z.discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('nothing to do'), ...OfGroup }),
    z.object({ outcome: z.literal('refreshed'), ...OfGroup, ...RunReport.shape }),
  ]),
  timeoutSeconds: 50,
  // Of all chains together: each sends a URL at most eight requests side by side.
  mostAtATime: 4,
  batchSize: 1,
  isWitnessed: true,
  impact:
    'On chains with more than 1,000 vaults, positions and histories load slower; yields and the states of unreachable chains get old. After two days without records, lists omit the vaults.',
} as const satisfies QueueContract
