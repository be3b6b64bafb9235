import * as z from 'zod'
import type { JobContract } from '../../../lib/frame/contract.ts'

export const contract = {
  summary: 'Refreshes the list of supported tokens of each chain.',
  uses: { cache: ['BatchGetItem', 'PutItem'], config: true },
  event: z.object({}),
  report: z.object({
    tokens: z.number().int().describe('Tokens of the chains with a new list'),
    withId: z.number().int().describe('Tokens that CoinGecko knows'),
    areIdsNew: z.boolean().describe("True if CoinGecko's ids are new, false if they are the earlier ones"),
    keptChains: z.array(z.string()).describe('Chains that keep their earlier list'),
    lagSeconds: z.number().int().describe('Age of the oldest list, in seconds'),
  }),
  everyMinutes: 60,
  runs: [{}],
  impact: 'New tokens are not supported yet, and lists get old.',
} as const satisfies JobContract
