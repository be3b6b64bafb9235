import * as z from 'zod'

const Price = z.number().nonnegative()

/** Request field: id of a coin at CoinGecko. */
export const CoinId = z.string().min(1).max(128).describe('CoinGecko id, such as bitcoin')

/** Price and market data of one coin in US dollars. A null value is unknown. */
export const MarketCoin = z.object({
  /** Id of the coin at CoinGecko. */
  id: z.string(),
  symbol: z.string(),
  name: z.string(),
  /** URL of the coin's picture; may be empty. */
  image: z.string(),
  rank: z.number().int().positive().nullable(),
  price: Price.nullable(),
  marketCap: Price.nullable(),
  volume: Price.nullable(),
  /** Change of the price over the last 24 hours, in percent. */
  change24h: z.number().gt(-100).nullable(),
})
export type MarketCoin = z.output<typeof MarketCoin>

/**
 * Token that the service supports. Chain and contract identify it, also for prices. Its symbol does not, because anyone
 * can create a token with that symbol.
 */
export const ListedToken = z.object({
  /** Key of the token's chain in our chain registry, such as `base-mainnet`. */
  chain: z.string(),
  /** Contract address: EIP-55 checksummed on EVM chains, base58 on Solana. It is `native` for the chain's native coin. */
  address: z.string(),
  symbol: z.string(),
  name: z.string(),
  decimals: z.number().int().min(0).max(36),
  /** Key of the coin at LI.FI. A coin has the same key on all chains. It is empty if LI.FI has none. */
  coinKey: z.string(),
  /** URL of the token's picture; may be empty. */
  logoUrl: z.string(),
  /** Id of the coin at CoinGecko; empty if unknown. */
  coinGeckoId: z.string(),
})
export type ListedToken = z.output<typeof ListedToken>

/** Price of one token in US dollars, now and a day ago. `dayAgo` is null if it is unknown. */
export const TokenPrice = z.object({
  now: Price,
  dayAgo: Price.nullable(),
  /** Time of the price `now`, in epoch milliseconds. */
  at: z.number().int(),
})
export type TokenPrice = z.output<typeof TokenPrice>

/**
 * Price chart: prices, market caps and volumes in one currency, ordered by time. Each point is a pair of epoch
 * milliseconds and a number.
 */
export const Chart = z.object({
  prices: z.array(z.tuple([z.number().int(), Price])),
  marketCaps: z.array(z.tuple([z.number().int(), Price])),
  volumes: z.array(z.tuple([z.number().int(), Price])),
})
export type Chart = z.output<typeof Chart>

/** Price chart and the number of days that it covers. The source may have fewer days than requested. */
export const DatedChart = z.object({ chart: Chart, days: z.union([z.number().int(), z.literal('max')]) })
export type DatedChart = z.output<typeof DatedChart>

/** Price and market data of one coin in one currency. A null value is unknown. */
export const CoinQuote = z.object({
  id: z.string(),
  symbol: z.string(),
  name: z.string(),
  image: z.string(),
  price: Price,
  marketCap: Price.nullable(),
  rank: z.number().int().positive().nullable(),
  volume: Price.nullable(),
  high24h: Price.nullable(),
  low24h: Price.nullable(),
  /** Change of the price over the last 24 hours, in the currency. `change24h` is the same change in percent. */
  priceChange24h: z.number().nullable(),
  change24h: z.number().gt(-100).nullable(),
  circulatingSupply: z.number().nonnegative().nullable(),
  totalSupply: z.number().nonnegative().nullable(),
  maxSupply: z.number().nonnegative().nullable(),
  allTimeHigh: Price.nullable(),
  allTimeLow: Price.nullable(),
  /** Time of the price, in epoch milliseconds. */
  updatedAt: z.number().int(),
})
export type CoinQuote = z.output<typeof CoinQuote>

/** Coin in the result of a search by name or symbol. */
export const FoundCoin = z.object({
  id: z.string(),
  symbol: z.string(),
  name: z.string(),
  apiSymbol: z.string(),
  rank: z.number().int().positive().nullable(),
  /** URL of a small picture of the coin; `large` is the URL of a large one. Either may be empty. */
  thumb: z.string(),
  large: z.string(),
})
export type FoundCoin = z.output<typeof FoundCoin>
