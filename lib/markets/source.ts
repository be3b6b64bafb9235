import type { Aged } from '../cache/cache.ts'
import type { Chain } from '../chain/registry.ts'
import type { AppError } from '../core/errors.ts'
import { toResult, unwrap } from '../core/result.ts'
import type { DatedChart } from './coin.ts'
import type { Currency } from './currency.ts'

/** Name of a coin in requests to all price sources, in DefiLlama's form: `coingecko:<id>` or `<chain>:<address>`. */
export type CoinName = string

/** Returns the name of the coin that has this id at CoinGecko. */
export function coinNameById(id: string): CoinName {
  return `coingecko:${id}`
}

/** Returns the name of the token that has this address on a chain. */
export function coinNameByAddress({ defiLlamaPrefix }: Chain, address: string): CoinName {
  return `${defiLlamaPrefix}:${address}`
}

/** Price in US dollars, and the time of the price in epoch milliseconds. */
export type DatedPrice = { readonly price: number; readonly at: number }

/** Currency and number of days of a requested price chart. */
export type ChartRange = { readonly currency: Currency; readonly days: number | 'max' }

/** Client of a service that returns prices. Its functions throw AppError `upstream_*`. */
export type PriceSource = {
  /** Name of the price source. Cache keys contain it, and UNITS has the cost of a request under this name. */
  readonly name: 'coingecko' | 'defillama'
  readonly currencies: readonly Currency[]
  /** Fetches a coin's price chart. Returns null if the source does not know the coin or has no price in that time. */
  readonly fetchChart: (coin: CoinName, span: ChartRange) => Promise<DatedChart | null>
  /**
   * Fetches prices in US dollars: current ones, or those at the time `at` with a tolerance of one day. Coins without a
   * reliable price are missing. The function is absent for a source whose plan allows too few requests.
   */
  readonly fetchPrices?: (coins: readonly CoinName[], at?: Date) => Promise<Map<CoinName, DatedPrice>>
}

/** Price sources in the order in which they are tried. */
export type PriceSources = readonly [PriceSource, ...PriceSource[]]

/** Fetched prices by coin. If some prices are missing because a source failed, `failure` is the first source's error. */
type FetchedPrices = {
  readonly prices: ReadonlyMap<CoinName, DatedPrice>
  readonly failure: AppError | undefined
}

/** Fetches the prices of these coins. The second and later sources are queried only for coins without a price so far. */
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
  // A source's failure is dropped if other sources returned all prices.
  return { prices, failure: coins.every((coin) => prices.has(coin)) ? undefined : failure }
}

/** One way to get a value, for example from one price source. A null means that the value is unknown. */
export type Attempt<T> = {
  readonly get: () => Promise<Aged<T | null>>
  /** Returns true if this value is recent enough to skip the remaining attempts. */
  readonly isRecent: (answer: Aged<T | null>) => boolean
}

/**
 * Makes the attempts in order until one returns a recent value. Returns the newest value of all attempts. If no attempt
 * finds a value, it returns the null of the first attempt or throws its error.
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
