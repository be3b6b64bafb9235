import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { Currency } from '../../../lib/markets/currency.ts'

const Figure = z.number().nullable()

export const contract = {
  method: 'GET',
  path: '/portfolio-indexor/markets',
  title: 'List coins',
  summary: 'Lists the supported coins on all chains, with price, market cap, volume and other data.',
  tag: 'Markets',
  caller: 'client',
  uses: { cache: ['BatchGetItem'] },
  request: { query: z.object({ currency: Currency.default('usd') }) },
  response: z.array(
    z.object({
      contract_address: z.string().describe("Token address; the chain's own coin has 0xEeee…EEeE, on Solana So11…1112"),
      chainId: z.number().int().describe('Chain id; Solana has 1151111081099710'),
      contract_ticker_symbol: z.string().describe('Symbol'),
      contract_decimals: z.number().int().describe('Decimals of the token'),
      contract_name: z.string().describe('Name'),
      coinKey: z.string().describe('The same for a coin on all chains; may be empty'),
      logo_url: z.string().describe('May be empty'),
      id: z.string().nullable().describe('CoinGecko id for GET /portfolio-indexor/markets/coins/{id}; null if unknown'),
      current_price: Figure.describe('Price; null if unknown'),
      market_cap: Figure.describe('Market cap of the coin on all chains; null if unknown'),
      total_volume: Figure.describe('Volume of the last 24 hours; null if unknown'),
      price_change_percentage_24h: Figure.describe('Change in 24 hours, in percent; null if unknown'),
    }),
  ),
  errors: ['upstream_unavailable'],
  cacheControl: 'public, max-age=60',
  aged: true,
  impact: 'Users cannot see the supported coins and their prices.',
} as const satisfies EndpointContract
