import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { Currency } from '../../../lib/markets/currency.ts'

const Mover = z
  .looseObject({
    id: z.string().describe('CoinGecko id'),
    symbol: z.string().describe('Symbol'),
    name: z.string().describe('Name'),
    image: z.string().describe('May be empty'),
    market_cap_rank: z.number().int().nullable().describe('Rank, 1 for the largest; null if unknown'),
    current_price: z.number().describe('Price, as in `<currency>`'),
    price_change_percentage_24h: z.number().describe('Change, as in `<currency>_24h_change`'),
  })
  .describe(
    'Also named by the currency in lower case, such as `usd`: `usd` (price), `usd_24h_vol` (volume) and `usd_24h_change` (percent)',
  )

export const contract = {
  method: 'GET',
  path: '/portfolio-indexor/markets/top_gainers_losers',
  title: 'List gainers and losers',
  summary: 'Lists the largest gainers and losers of the last 24 hours among the 1,000 largest coins.',
  tag: 'Markets',
  caller: 'client',
  uses: { cache: ['BatchGetItem'] },
  request: { query: z.object({ currency: Currency.default('usd') }) },
  response: z.object({
    top_gainers: z.array(Mover).describe('No more than 30, largest gain first'),
    top_losers: z.array(Mover).describe('No more than 30, largest loss first'),
  }),
  errors: ['upstream_unavailable'],
  cacheControl: 'public, max-age=60',
  aged: true,
  impact: 'Users cannot see the top gainers and losers.',
} as const satisfies EndpointContract
