import type { Aged } from '../cache/cache.ts'
import type { Chain } from '../chain/registry.ts'
import type { AppError } from '../errors.ts'
import { toResult, unwrap } from '../result.ts'
import type { DatedChart } from './coin.ts'
import type { Currency } from './currency.ts'

/** A coin by one name at all sources: DefiLlama's, `coingecko:<id>` or `<chain>:<address>`. */
export type CoinName = string

/** The name of a coin by CoinGecko's id. */
export function coinById(id: string): CoinName {
  return `coingecko:${id}`
}

/** The name of a token by its address on a chain. */
export function coinByAddress({ defiLlamaPrefix }: Chain, address: string): CoinName {
  return `${defiLlamaPrefix}:${address}`
}

/** A price in US dollars and its moment, in epoch milliseconds. */
export type DatedPrice = { readonly price: number; readonly at: number }

/** How far a chart goes back, and in which currency it is. */
export type Span = { readonly currency: Currency; readonly days: number | 'max' }

/** A service that tells prices. Every call throws AppError `upstream_*`. */
export type PriceSource = {
  /** Names its charts in the cache, and the price of its questions. */
  readonly name: 'coingecko' | 'defillama'
  /** The currencies of its charts. */
  readonly currencies: readonly Currency[]
  /** The prices of a coin over time, and how many days they are; null for a coin that is unknown or has no price in that time. */
  readonly fetchChart: (coin: CoinName, span: Span) => Promise<DatedChart | null>
  /**
   * The prices of these coins in US dollars, now or at a moment, none further from it than a day; coins without a price
   * that can be relied on are left out. Absent where our plan has too few calls for it.
   */
  readonly fetchPrices?: (coins: readonly CoinName[], at?: Date) => Promise<Map<CoinName, DatedPrice>>
}

/** Several sources, the preferred one first. */
export type PriceSources = readonly [PriceSource, ...PriceSource[]]

/** Prices by coin, and why some are missing: the first failure of a source that was asked for them. */
type FetchedPrices = {
  readonly prices: ReadonlyMap<CoinName, DatedPrice>
  readonly failure: AppError | undefined
}

/** The prices of these coins, each of the first source that tells it; a source is asked for what those before it did not tell. */
export async function fetchPrices(
  sources: PriceSources,
  coins: readonly CoinName[],
  at?: Date,
): Promise<FetchedPrices> {
  const prices = new Map<CoinName, DatedPrice>()
  let failure: AppError | undefined
  for (const source of sources) {
    const missing = coins.filter((coin) => !prices.has(coin))
    if (missing.length === 0) break
    if (!source.fetchPrices) continue
    const result = await toResult(source.fetchPrices(missing, at))
    if ('error' in result) failure ??= result.error
    else for (const [coin, price] of result.value) prices.set(coin, price)
  }
  // A failure left nothing out where another source told it all.
  return { prices, failure: coins.every((coin) => prices.has(coin)) ? undefined : failure }
}

/** One way to an answer; a value of null says that it is not known there. */
export type Attempt<T> = {
  readonly get: () => Promise<Aged<T | null>>
  /** Whether nobody else is asked after this answer. */
  readonly isRecent: (answer: Aged<T | null>) => boolean
}

/**
 * The newest answer that has a value, of attempts that are made in order until one is recent; where there is none, what
 * came of the first: its answer, or the failure that is thrown.
 */
export async function newestAnswer<T>(first: Attempt<T>, ...others: readonly Attempt<T>[]): Promise<Aged<T | null>> {
  let newest = await toResult(first.get())
  if ('value' in newest && first.isRecent(newest.value)) return newest.value
  for (const { get, isRecent } of others) {
    const result = await toResult(get())
    if ('error' in result || result.value.value === null) continue
    const isOlder = 'value' in newest && newest.value.value !== null && newest.value.asOf > result.value.asOf
    if (!isOlder) newest = result
    if (isRecent(result.value)) break
  }
  return unwrap(newest)
}
