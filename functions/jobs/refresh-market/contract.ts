import * as z from 'zod'
import type { JobContract } from '../../../lib/frame/contract.ts'

export const contract = {
  summary: 'Refreshes the market, the currency rates and the prices of all supported tokens.',
  uses: { cache: ['BatchGetItem', 'PutItem'], config: true },
  event: z.object({}),
  report: z.object({
    coins: z.number().int().nullable().describe('Coins of the new market; null if unchanged'),
    currencies: z.number().int().nullable().describe('Currencies with new rates; null if unchanged'),
    prices: z.number().int().describe('Tokens with a new price'),
    olderPrices: z.number().int().describe('Tokens that keep an older price, because no source has a new one'),
    outliers: z.number().int().describe('Tokens that keep an older price, because only one source reports a jump'),
    failures: z.array(z.string()).describe('Refreshes that failed, or failed in part'),
    lagSeconds: z.number().int().describe('Age in seconds of the oldest data that could not be refreshed'),
  }),
  everyMinutes: 5,
  runs: [{}],
  impact: 'Prices, market data and the values of balances get old; after a day they are unknown.',
} as const satisfies JobContract
