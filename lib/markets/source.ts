import type { Aged } from '../cache/cache.ts'
import type { Chain } from '../chain/registry.ts'
import type { AppError } from '../core/errors.ts'
import { toResult, unwrap } from '../core/result.ts'
import type { DatedChart } from './coin.ts'
import type { Currency } from './currency.ts'

/** A coin's name for all sources, as DefiLlama writes it: `coingecko:<id>` or `<chain>:<address>`. */
export type CoinName = string

/** Returns the name of a coin by CoinGecko's id. */
export function coinById(id: string): CoinName {
  return `coingecko:${id}`
}

/** Returns the name of a token by its address on a chain. */
export function coinByAddress({ defiLlamaPrefix }: Chain, address: string): CoinName {
  return `${defiLlamaPrefix}:${address}`
}

/** A price in US dollars and its time in epoch milliseconds. */
export type DatedPrice = { readonly price: number; readonly at: number }

/** Length and currency of a chart. */
export type ChartRange = { readonly currency: Currency; readonly days: number | 'max' }

/** A service with prices. Every call throws AppError `upstream_*`. */
export type PriceSource = {
  /** Name of its charts in the cache and of its unit price. */
  readonly name: 'coingecko' | 'defillama'
  readonly currencies: readonly Currency[]
  /** Fetches a coin's chart; null if the coin is unknown or has no price in that time. */
  readonly fetchChart: (coin: CoinName, span: ChartRange) => Promise<DatedChart | null>
  /**
   * Fetches prices in US dollars, now or at most a day from `at`. Coins without a reliable price are missing. Absent if our plan allows too
   * few calls.
   */
  readonly fetchPrices?: (coins: readonly CoinName[], at?: Date) => Promise<Map<CoinName, DatedPrice>>
}

/** Price sources, the preferred one first. */
export type PriceSources = readonly [PriceSource, ...PriceSource[]]

/** Prices by coin; the first failure if some are missing. */
type FetchedPrices = {
  readonly prices: ReadonlyMap<CoinName, DatedPrice>
  readonly failure: AppError | undefined
}

/** Fetches the prices of these coins; each source only those that earlier ones lack. */
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
  // A failure is no loss if another source had all prices.
  return { prices, failure: coins.every((coin) => prices.has(coin)) ? undefined : failure }
}

/** One way to get a value; null means unknown. */
export type Attempt<T> = {
  readonly get: () => Promise<Aged<T | null>>
  /** Returns true if no other attempt is needed. */
  readonly isRecent: (answer: Aged<T | null>) => boolean
}

/**
 * Makes attempts in order until one is recent; returns the newest result with a value. Without any it returns the first result or throws
 * the first failure.
 */
export async function pickNewest<T>(first: Attempt<T>, ...others: readonly Attempt<T>[]): Promise<Aged<T | null>> {
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
