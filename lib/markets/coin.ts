import * as z from 'zod'

/** A price: finite and not negative. */
const Price = z.number().nonnegative()

/** CoinGecko's id of a coin, from a caller. */
export const CoinId = z.string().min(1).max(128).describe('CoinGecko id, such as bitcoin')

/** A coin as the market knows it, in US dollars; null is unknown. */
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

/** A token that the service supports: listed by its contract, which is what prices go by, never by its symbol. */
export const ListedToken = z.object({
  /** Key of the chain in the registry. */
  chain: z.string(),
  /** EIP-55 checksummed on EVM chains, base58 on Solana; `native` for the chain's own coin. */
  address: z.string(),
  symbol: z.string(),
  name: z.string(),
  decimals: z.number().int().min(0).max(36),
  /** LI.FI's word for the coin, the same on all chains; empty where it has none. */
  coinKey: z.string(),
  /** May be empty. */
  logoUrl: z.string(),
  /** CoinGecko's id; empty where none is known. */
  coinGeckoId: z.string(),
})
export type ListedToken = z.output<typeof ListedToken>

/** What a token is worth in US dollars; the day before is null when unknown. */
export const TokenPrice = z.object({
  now: Price,
  dayAgo: Price.nullable(),
  /** Epoch milliseconds of `now`. */
  at: z.number().int(),
})
export type TokenPrice = z.output<typeof TokenPrice>

/** Prices over time, in one currency, ascending: pairs of epoch milliseconds and a number. */
export const Chart = z.object({
  prices: z.array(z.tuple([z.number().int(), Price])),
  marketCaps: z.array(z.tuple([z.number().int(), Price])),
  volumes: z.array(z.tuple([z.number().int(), Price])),
})
export type Chart = z.output<typeof Chart>

/** A chart and how many days it tells of, which can be fewer than were asked for. */
export const DatedChart = z.object({ chart: Chart, days: z.union([z.number().int(), z.literal('max')]) })
export type DatedChart = z.output<typeof DatedChart>

/** All that is told of one coin, in one currency; null is unknown. */
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
  /** In the currency, and in percent. */
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

/** A coin that a search found. */
export const FoundCoin = z.object({
  id: z.string(),
  symbol: z.string(),
  name: z.string(),
  apiSymbol: z.string(),
  rank: z.number().int().positive().nullable(),
  /** Pictures; may be empty. */
  thumb: z.string(),
  large: z.string(),
})
export type FoundCoin = z.output<typeof FoundCoin>
