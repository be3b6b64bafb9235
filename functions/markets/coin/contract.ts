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
    id: z.string(),
    symbol: z.string(),
    name: z.string(),
    image: z.string().describe('May be empty'),
    current_price: z.number(),
    market_cap: Figure,
    market_cap_rank: z.number().int().nullable(),
    total_volume: Figure,
    high_24h: Figure,
    low_24h: Figure,
    price_change_24h: Figure,
    price_change_percentage_24h: Figure,
    circulating_supply: Figure,
    total_supply: Figure,
    max_supply: Figure,
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
