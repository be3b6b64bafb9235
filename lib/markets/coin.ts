import * as z from 'zod'

const Price = z.number().nonnegative()

/** CoinGecko's id of a coin in a request. */
export const CoinId = z.string().min(1).max(128).describe('CoinGecko id, such as bitcoin')

/** A coin of the market in US dollars; null means unknown. */
export const MarketCoin = z.object({
  /** CoinGecko's id. */
  id: z.string(),
  symbol: z.string(),
  name: z.string(),
  /** May be empty. */
  image: z.string(),
  rank: z.number().int().positive().nullable(),
  price: Price.nullable(),
  marketCap: Price.nullable(),
  volume: Price.nullable(),
  /** Percent over the last 24 hours. */
  change24h: z.number().gt(-100).nullable(),
})
export type MarketCoin = z.output<typeof MarketCoin>

/** A supported token, identified by its contract, also for prices; never by its symbol. */
export const ListedToken = z.object({
  /** Key of the chain in the registry. */
  chain: z.string(),
  /** EIP-55 checksummed on EVM chains, base58 on Solana; `native` for the chain's own coin. */
  address: z.string(),
  symbol: z.string(),
  name: z.string(),
  decimals: z.number().int().min(0).max(36),
  /** LI.FI's key of the coin, the same on all chains; empty if it has none. */
  coinKey: z.string(),
  /** May be empty. */
  logoUrl: z.string(),
  /** CoinGecko's id; empty if unknown. */
  coinGeckoId: z.string(),
})
export type ListedToken = z.output<typeof ListedToken>

/** Price of a token in US dollars; `dayAgo` is null if unknown. */
export const TokenPrice = z.object({
  now: Price,
  dayAgo: Price.nullable(),
  /** Epoch milliseconds of `now`. */
  at: z.number().int(),
})
export type TokenPrice = z.output<typeof TokenPrice>

/** Values in one currency, ascending by time: pairs of epoch milliseconds and a number. */
export const Chart = z.object({
  prices: z.array(z.tuple([z.number().int(), Price])),
  marketCaps: z.array(z.tuple([z.number().int(), Price])),
  volumes: z.array(z.tuple([z.number().int(), Price])),
})
export type Chart = z.output<typeof Chart>

/** A chart with its number of days, which can be smaller than requested. */
export const DatedChart = z.object({ chart: Chart, days: z.union([z.number().int(), z.literal('max')]) })
export type DatedChart = z.output<typeof DatedChart>

/** Details of one coin in one currency; null means unknown. */
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
  /** Change in the currency; the next field is in percent. */
  priceChange24h: z.number().nullable(),
  change24h: z.number().gt(-100).nullable(),
  circulatingSupply: z.number().nonnegative().nullable(),
  totalSupply: z.number().nonnegative().nullable(),
  maxSupply: z.number().nonnegative().nullable(),
  allTimeHigh: Price.nullable(),
  allTimeLow: Price.nullable(),
  /** Epoch milliseconds. */
  updatedAt: z.number().int(),
})
export type CoinQuote = z.output<typeof CoinQuote>

/** A coin found by a search. */
export const FoundCoin = z.object({
  id: z.string(),
  symbol: z.string(),
  name: z.string(),
  apiSymbol: z.string(),
  rank: z.number().int().positive().nullable(),
  /** Image URLs; may be empty. */
  thumb: z.string(),
  large: z.string(),
})
export type FoundCoin = z.output<typeof FoundCoin>
