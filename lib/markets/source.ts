import type { Aged } from '../cache/cache.ts'
import type { Chain } from '../chain/registry.ts'
import type { AppError } from '../core/errors.ts'
import { toResult, unwrap } from '../core/result.ts'
import type { DatedChart } from './coin.ts'
import type { Currency } from './currency.ts'

/** Name of a coin at all price sources, in DefiLlama's form: `coingecko:<id>` or `<chain>:<address>`. */
export type CoinName = string

/** Returns the name of the coin with this CoinGecko id. */
export function coinById(id: string): CoinName {
  return `coingecko:${id}`
}

/** Returns the name of the token with this address on a chain. */
export function coinByAddress({ defiLlamaPrefix }: Chain, address: string): CoinName {
  return `${defiLlamaPrefix}:${address}`
}

/** Price in US dollars, with its time in epoch milliseconds. */
export type DatedPrice = { readonly price: number; readonly at: number }

/** Number of days and currency of a price chart. */
export type ChartRange = { readonly currency: Currency; readonly days: number | 'max' }

/** Service that returns prices. Its functions throw AppError `upstream_*`. */
export type PriceSource = {
  /** Name that identifies the source in cache keys and in UNITS, the cost of a call. */
  readonly name: 'coingecko' | 'defillama'
  readonly currencies: readonly Currency[]
  /** Fetches a coin's price chart; null if the source does not know the coin or has no price of it in that time. */
  readonly fetchChart: (coin: CoinName, span: ChartRange) => Promise<DatedChart | null>
  /**
   * Fetches prices in US dollars, now or at most a day from the time `at`. Coins without a reliable price are missing. Absent if our plan
   * for the source allows too few calls.
   */
  readonly fetchPrices?: (coins: readonly CoinName[], at?: Date) => Promise<Map<CoinName, DatedPrice>>
}

/** Price sources, the preferred one first. */
export type PriceSources = readonly [PriceSource, ...PriceSource[]]

/** Fetched prices by coin. `failure` is the first error of a source, if some prices are missing. */
type FetchedPrices = {
  readonly prices: ReadonlyMap<CoinName, DatedPrice>
  readonly failure: AppError | undefined
}

/** Fetches the prices of these coins. Each source is queried only for coins that the sources before it lack. */
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
  // A source's failure does not matter if the others had all prices.
  return { prices, failure: coins.every((coin) => prices.has(coin)) ? undefined : failure }
}

/** One way to get a value, such as one price source; null means that the value is unknown. */
export type Attempt<T> = {
  readonly get: () => Promise<Aged<T | null>>
  /** Returns true if the value is recent enough to make no other attempt. */
  readonly isRecent: (answer: Aged<T | null>) => boolean
}

/**
 * Makes the attempts in order until one returns a recent value. Returns the newest value found. Without any value it returns the first
 * result or throws the first failure.
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
