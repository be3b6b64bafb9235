import * as z from 'zod'
import type { JobContract } from '../../../lib/frame/contract.ts'

export const contract = {
  summary: 'Refreshes the market, the currency rates and the prices of all supported tokens.',
  uses: { cache: ['BatchGetItem', 'PutItem'], config: true },
  event: z.object({}),
  report: z.object({
    coins: z.number().int().nullable().describe('Of the new market; null where it stays as it was'),
    currencies: z.number().int().nullable().describe('With new rates; null where they stay as they were'),
    prices: z.number().int().describe('Tokens with a new price'),
    olderPrices: z.number().int().describe('Tokens that keep an older price, because no source tells one'),
    outliers: z.number().int().describe('Tokens that keep an older price, because only one source tells a jump'),
    failures: z.array(z.string()).describe('What could not be refreshed, or not wholly'),
    lagSeconds: z.number().int().describe('How far the oldest of what could not be refreshed is behind'),
  }),
  metrics: { lagSeconds: 'Seconds', prices: 'Count', outliers: 'Count' },
  heartbeat: 'lagSeconds',
  everyMinutes: 5,
  runs: [{}],
  impact: 'Prices, market data and the values of balances grow old; after a day they are unknown.',
} as const satisfies JobContract
