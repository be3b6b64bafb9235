import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { Currency } from '../../../lib/markets/currency.ts'

const Figure = z.number().nullable()

export const contract = {
  method: 'GET',
  path: '/portfolio-indexor/markets',
  title: 'List coins',
  summary: 'Lists the supported coins on all chains, with price, market cap, volume and market data.',
  tag: 'Markets',
  caller: 'client',
  uses: { cache: ['BatchGetItem'] },
  request: { query: z.object({ currency: Currency.default('usd') }) },
  response: z.array(
    z.object({
      contract_address: z.string().describe("The chain's own coin has 0xEeee…EEeE, on Solana So11…1112"),
      chainId: z.number().int().describe('Solana has 1151111081099710'),
      contract_ticker_symbol: z.string().describe('Symbol'),
      contract_decimals: z.number().int().describe('Decimals of the token'),
      contract_name: z.string().describe('Name'),
      coinKey: z.string().describe('The same for a coin on all chains; may be empty'),
      logo_url: z.string().describe('May be empty'),
      id: z.string().nullable().describe('For GET /portfolio-indexor/markets/coins/{id}; null when unknown. Additive'),
      current_price: Figure.describe('Null when unknown. Additive'),
      market_cap: Figure.describe('Of the coin on all chains; null when unknown. Additive'),
      total_volume: Figure.describe('Of the last 24 hours; null when unknown. Additive'),
      price_change_percentage_24h: Figure.describe('In the currency; null when unknown. Additive'),
    }),
  ),
  errors: ['upstream_unavailable'],
  cacheControl: 'public, max-age=60',
  aged: true,
  impact: 'Users cannot see the supported coins and their prices.',
} as const satisfies EndpointContract
