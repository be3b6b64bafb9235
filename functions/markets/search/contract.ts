import * as z from 'zod'
import { UPSTREAM_ERRORS } from '../../../lib/core/errors.ts'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { Currency } from '../../../lib/markets/currency.ts'

/** Search text for coins. Its length counts code points, not UTF-16 units, so an emoji counts as one. */
const Search = z
  .string()
  .trim()
  .refine((text) => [...text].length >= 3, 'must have at least 3 characters')
  .refine((text) => [...text].length <= 100, {
    error: 'must have at most 100 characters',
    params: { tooLong: true },
  })
  .meta({ description: "Part of a coin's name or symbol, 3 to 100 characters" })

export const contract = {
  method: 'POST',
  path: '/portfolio-indexor/markets/coins/search',
  title: 'Search coins',
  summary: 'Finds coins by name or symbol, largest first, with their prices.',
  tag: 'Markets',
  caller: 'client',
  uses: { cache: ['BatchGetItem', 'GetItem', 'UpdateItem', 'PutItem'], config: true },
  request: {
    query: z.object({ currency: Currency.default('usd') }),
    body: z.strictObject({ search: field(Search, { invalid: 'invalid_search', tooLong: 'search_too_long' }) }),
  },
  response: z.array(
    z.object({
      id: z.string().describe('CoinGecko id, for GET /portfolio-indexor/markets/coins/{id}'),
      name: z.string().describe('Name'),
      symbol: z.string().describe('Symbol'),
      api_symbol: z.string().describe('Symbol'),
      market_cap_rank: z.number().int().nullable().describe('Rank, 1 for the largest; null if unknown'),
      thumb: z.string().describe('Small picture; may be empty'),
      large: z.string().describe('Large picture; may be empty'),
      current_price: z.number().nullable().describe('Price; null if unknown'),
      price_change_percentage_24h: z.number().nullable().describe('Change in 24 hours, in percent; null if unknown'),
    }),
  ),
  errors: ['too_many_requests', ...UPSTREAM_ERRORS],
  cacheControl: 'no-store',
  aged: true,
  impact: 'Users cannot search for coins.',
} as const satisfies EndpointContract
