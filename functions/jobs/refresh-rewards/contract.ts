import * as z from 'zod'
import { ChainId, EVM_CHAINS } from '../../../lib/chain/registry.ts'
import type { JobContract } from '../../../lib/frame/contract.ts'

export const contract = {
  summary:
    "Refreshes the campaigns of one chain's vaults, and reports rewards to the clients that watch their accounts.",
  uses: {
    clients: ['Query'],
    deposits: ['GetItem', 'Query', 'Query followedTransfers', 'PutItem', 'UpdateItem', 'DeleteItem'],
    cache: ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'],
    webhooks: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'],
    deliveryQueue: true,
    config: true,
  },
  event: z.object({ chainId: ChainId }),
  report: z.discriminatedUnion('outcome', [
    z.object({ chainId: ChainId, outcome: z.literal('no vaults') }),
    z.object({
      chainId: ChainId,
      outcome: z.literal('refreshed'),
      campaigns: z.number().int().nullable().describe('Vaults and share tokens with campaigns; null if unchanged'),
      lagSeconds: z.number().int().describe('Age of the campaigns if they could not be refreshed, in seconds; else 0'),
      checked: z.number().int().describe('Watched accounts whose rewards were read; at most 100'),
      unread: z.number().int().describe('Due accounts whose rewards could not be read; they are due again in an hour'),
      claimable: z.number().int().describe('New events `reward.claimable`'),
      claimed: z.number().int().describe('New events `reward.claimed`'),
    }),
  ]),
  everyMinutes: 5,
  runs: EVM_CHAINS.map(({ id }) => ({ chainId: id })),
  needsAgreement: true,
  impact: 'Campaigns of vaults get old; after a day lists omit them. Clients get events of rewards later.',
} as const satisfies JobContract
