// These schemas are written only from the published API document. They import nothing from lib/, because they must reveal
// mistakes in lib/.
import * as z from 'zod'

const TokenBalance = z.looseObject({
  balance: z.string(),
  contract_address: z.string(),
  contract_decimals: z.number(),
  contract_name: z.string(),
  contract_ticker_symbol: z.string(),
  is_spam: z.boolean(),
  quote: z.number(),
  chainName: z.string(),
  logo_url: z.string(),
  quote_24h: z.number(),
  quote_24h_variation: z.number(),
  quote_rate: z.number(),
  quote_rate_24h: z.number(),
  quote_rate_24h_variation: z.number(),
  native_token: z.boolean(),
  defi: z.boolean(),
})

/** Response to `GET /portfolio-indexor/allBalances`. */
export const Balances = z.looseObject({
  addresses: z.array(z.strictObject({ address: z.string(), chain: z.string() })),
  tokens: z.strictObject({
    'arbitrum-mainnet': z.array(TokenBalance),
    'base-mainnet': z.array(TokenBalance),
    'bsc-mainnet': z.array(TokenBalance),
    'eth-mainnet': z.array(TokenBalance),
    'gnosis-mainnet': z.array(TokenBalance),
    'matic-mainnet': z.array(TokenBalance),
    'optimism-mainnet': z.array(TokenBalance),
    'solana-mainnet': z.array(TokenBalance),
  }),
  kyc: z.strictObject({ status: z.string() }),
  smartgaz: z.number(),
  solana_rent: z.number(),
})

/** Response to `GET /portfolio-indexor/markets`. */
export const MarketCoins = z.array(
  z.looseObject({
    contract_address: z.string(),
    chainId: z.number(),
    contract_ticker_symbol: z.string(),
    contract_decimals: z.number(),
    contract_name: z.string(),
    coinKey: z.string(),
    logo_url: z.string(),
  }),
)
