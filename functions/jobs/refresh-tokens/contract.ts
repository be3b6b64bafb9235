import * as z from 'zod'
import type { JobContract } from '../../../lib/frame/contract.ts'

export const contract = {
  summary: 'Refreshes the list of supported tokens of each chain.',
  uses: { cache: ['BatchGetItem', 'PutItem'], config: true },
  event: z.object({}),
  report: z.object({
    tokens: z.number().int().describe('On the chains whose list is new'),
    withId: z.number().int().describe('Those that CoinGecko knows'),
    areIdsNew: z.boolean().describe("Whether CoinGecko's ids are new, or those known before"),
    keptChains: z.array(z.string()).describe('The chains that keep the list they had'),
    lagSeconds: z.number().int().describe('The age of the oldest list'),
  }),
  metrics: { lagSeconds: 'Seconds' },
  heartbeat: 'lagSeconds',
  everyMinutes: 60,
  runs: [{}],
  impact: 'New tokens are not supported yet, and lists grow old.',
} as const satisfies JobContract
