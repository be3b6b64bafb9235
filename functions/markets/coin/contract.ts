import * as z from 'zod'
import { Timestamp } from '../../../lib/codecs.ts'
import { UPSTREAM_ERRORS } from '../../../lib/errors.ts'
import { field } from '../../../lib/field.ts'
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
    id: z.string().describe('By CoinGecko'),
    symbol: z.string().describe('Symbol'),
    name: z.string().describe('Name'),
    image: z.string().describe('May be empty'),
    current_price: z.number().describe('In the currency'),
    market_cap: Figure.describe('In the currency; null when unknown'),
    market_cap_rank: z.number().int().nullable().describe('1 for the largest; null when unknown'),
    total_volume: Figure.describe('Of the last 24 hours, in the currency; null when unknown'),
    high_24h: Figure.describe('The highest price of the last 24 hours; null when unknown'),
    low_24h: Figure.describe('The lowest price of the last 24 hours; null when unknown'),
    price_change_24h: Figure.describe('In the currency; null when unknown'),
    price_change_percentage_24h: Figure.describe('In percent; null when unknown'),
    circulating_supply: Figure.describe('Whole coins; null when unknown'),
    total_supply: Figure.describe('Whole coins; null when unknown'),
    max_supply: Figure.describe('Whole coins; null where there is no limit, or when unknown'),
    ath: Figure.describe('The highest price ever'),
    atl: Figure.describe('The lowest price ever'),
    last_updated: Timestamp,
    currency: z.enum(CURRENCIES).describe('Additive'),
    platforms: z
      .record(z.string(), z.string())
      .describe("Where the coin is a supported token: its contract by CoinGecko's platform. Additive"),
  }),
  errors: ['too_many_requests', ...UPSTREAM_ERRORS],
  cacheControl: 'public, max-age=60',
  aged: true,
  impact: 'Users cannot see the price of a coin.',
} as const satisfies EndpointContract
