import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { Currency } from '../../../lib/markets/currency.ts'

const Mover = z
  .looseObject({
    id: z.string().describe('By CoinGecko'),
    symbol: z.string().describe('Symbol'),
    name: z.string().describe('Name'),
    image: z.string().describe('May be empty'),
    market_cap_rank: z.number().int().nullable().describe('1 for the largest; null when unknown'),
    current_price: z.number().describe('The same as `<currency>`. Additive'),
    price_change_percentage_24h: z.number().describe('The same as `<currency>_24h_change`. Additive'),
  })
  .describe(
    'Besides, in the names with the currency in lower case, such as `usd`: `usd` (the price), `usd_24h_vol` (what was traded) and `usd_24h_change` (percent)',
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
    top_gainers: z.array(Mover).describe('At most 30, the largest gain first'),
    top_losers: z.array(Mover).describe('At most 30, the largest loss first'),
  }),
  errors: ['upstream_unavailable'],
  cacheControl: 'public, max-age=60',
  aged: true,
  impact: 'Users cannot see which coins gained and lost most.',
} as const satisfies EndpointContract
