import * as z from 'zod'
import { combine } from '../../../lib/cache/aged.ts'
import type { Aged, Namespace, SharedCache } from '../../../lib/cache/cache.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { MARKET, RATES } from '../../../lib/markets/cached.ts'
import { CoinQuote, FoundCoin } from '../../../lib/markets/coin.ts'
import type { CoinGecko } from '../../../lib/markets/coingecko.ts'
import { conversionInto } from '../../../lib/markets/convert.ts'
import type { Currency } from '../../../lib/markets/currency.ts'
import { resultOf } from '../../../lib/result.ts'
import type { Services } from '../../../lib/services.ts'
import type { contract } from './contract.ts'

type Dependencies = {
  readonly cache: Pick<SharedCache, 'get' | 'getOrFetch'>
  readonly coinGecko: Pick<CoinGecko, 'searchCoins' | 'fetchCoins'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** What a coin is worth in a currency, and its change in percent over a day; null is unknown. */
type Worth = { readonly price: number | null; readonly change24h: number | null }

/** A coin that was found, with what it is worth. */
export type PricedCoin = FoundCoin & Worth

const MOST_FOUND = 100

const SEARCH: Namespace<FoundCoin[]> = {
  name: 'search',
  schema: z.array(FoundCoin),
  freshSeconds: 15 * 60,
  keepSeconds: 24 * 3600,
}
const FoundPrice = CoinQuote.pick({ id: true, price: true, change24h: true })
const FOUND_PRICES: Namespace<z.output<typeof FoundPrice>[]> = {
  name: 'found-prices',
  schema: z.array(FoundPrice),
  freshSeconds: 60,
  keepSeconds: 3600,
}

/** The coins that a text finds by name or symbol, at most 100, the largest first, with their prices. Throws `upstream_*`. */
export async function searchPriced(
  dependencies: Dependencies,
  text: string,
  currency: Currency,
): Promise<Aged<PricedCoin[]>> {
  const { cache, coinGecko, now } = dependencies
  const key = text.toLowerCase()
  const found = await cache.getOrFetch({ namespace: SEARCH, key }, async () =>
    (await coinGecko.searchCoins(key)).slice(0, MOST_FOUND),
  )
  const ids = found.value.map(({ id }) => id)
  if (ids.length === 0) return { ...found, value: [] }
  const asked = await resultOf(
    cache.getOrFetch({ namespace: FOUND_PRICES, key: `${key}#${currency}` }, () => coinGecko.fetchCoins(ids, currency)),
  )
  const worths = 'value' in asked ? asked : await resultOf(keptWorths(dependencies, currency))
  const known = new Map('value' in worths ? worths.value.value.map((worth) => [worth.id, worth]) : [])
  const priced = found.value.map((coin): PricedCoin => {
    const { price = null, change24h = null } = known.get(coin.id) ?? {}
    return { ...coin, price, change24h }
  })
  return combine(priced, [found, 'value' in worths ? worths.value : undefined], now())
}

/** What the coins of the kept market are worth. Throws `upstream_unavailable` where it, or the rate of the currency, is not kept. */
async function keptWorths(
  { cache, now }: Pick<Dependencies, 'cache' | 'now'>,
  currency: Currency,
): Promise<Aged<(Worth & { readonly id: string })[]>> {
  const { market, rates } = await cache.get({ market: MARKET, rates: RATES })
  const conversion = conversionInto(currency, rates)
  const worths = (market?.value ?? []).map(({ id, price, change24h }) => ({
    id,
    price: conversion.amount(price),
    change24h: conversion.change(change24h),
  }))
  return combine(worths, [market, ...conversion.parts], now())
}

export const searchCoins =
  (services: Services<'cache' | 'coinGecko' | 'now'>) =>
  async ({ query, body }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { value, ...age } = await searchPriced(services, body.search, query.currency)
    return { value: value.map(toReply), ...age }
  }

function toReply({ id, name, symbol, apiSymbol, rank, thumb, large, price, change24h }: PricedCoin) {
  return {
    id,
    name,
    symbol,
    api_symbol: apiSymbol,
    market_cap_rank: rank,
    thumb,
    large,
    current_price: price,
    price_change_percentage_24h: change24h,
  }
}
