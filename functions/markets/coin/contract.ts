import * as z from 'zod'
import { Timestamp } from '../../../lib/core/codecs.ts'
import { UPSTREAM_ERRORS } from '../../../lib/core/errors.ts'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { CoinId } from '../../../lib/markets/coin.ts'
import { CURRENCIES, Currency } from '../../../lib/markets/currency.ts'

const Figure = z.number().nullable()

export const contract = {
  method: 'GET',
  path: '/portfolio-indexor/markets/coins/{id}',
  title: 'Get coin',
  summary: "Returns a coin's price, market cap, volume and other market data.",
  tag: 'Markets',
  caller: 'client',
  uses: { cache: ['BatchGetItem', 'GetItem', 'UpdateItem', 'PutItem'], config: true },
  request: {
    path: z.object({ id: field(CoinId, 'coin_not_found') }),
    query: z.object({ currency: Currency.default('usd') }),
  },
  response: z.object({
    id: z.string().describe('CoinGecko id'),
    symbol: z.string().describe('Symbol'),
    name: z.string().describe('Name'),
    image: z.string().describe('May be empty'),
    current_price: z.number().describe('Price, in the currency'),
    market_cap: Figure.describe('Market cap, in the currency; null if unknown'),
    market_cap_rank: z.number().int().nullable().describe('Rank, 1 for the largest; null if unknown'),
    total_volume: Figure.describe('Volume of the last 24 hours, in the currency; null if unknown'),
    high_24h: Figure.describe('Highest price of the last 24 hours; null if unknown'),
    low_24h: Figure.describe('Lowest price of the last 24 hours; null if unknown'),
    price_change_24h: Figure.describe('Change in 24 hours, in the currency; null if unknown'),
    price_change_percentage_24h: Figure.describe('Change in 24 hours, in percent; null if unknown'),
    circulating_supply: Figure.describe('Whole coins; null if unknown'),
    total_supply: Figure.describe('Whole coins; null if unknown'),
    max_supply: Figure.describe('Whole coins; null if unlimited or unknown'),
    ath: Figure.describe('All-time high'),
    atl: Figure.describe('All-time low'),
    last_updated: Timestamp,
    currency: z.enum(CURRENCIES).describe('Currency of the prices'),
    platforms: z
      .record(z.string(), z.string())
      .describe('Contracts of the coin by CoinGecko platform, if it is a supported token'),
  }),
  errors: ['too_many_requests', ...UPSTREAM_ERRORS],
  cacheControl: 'public, max-age=60',
  aged: true,
  impact: 'Users cannot see the price of a coin.',
} as const satisfies EndpointContract
