import * as z from 'zod'
import { combineAges } from '../../../lib/cache/aged.ts'
import type { Aged, CacheNamespace } from '../../../lib/cache/cache.ts'
import { badResponse } from '../../../lib/core/errors.ts'
import { toResult } from '../../../lib/core/result.ts'
import { DAY, HOUR } from '../../../lib/core/time.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { EXCHANGE_RATES_KEY, MARKET_DATA_KEY } from '../../../lib/markets/cache-keys.ts'
import { FoundCoin, MarketCoin } from '../../../lib/markets/coin.ts'
import { buildConversion } from '../../../lib/markets/convert.ts'
import type { Currency } from '../../../lib/markets/currency.ts'
import { pickNewest } from '../../../lib/markets/source.ts'
import { REQUEST_UNITS } from '../../../lib/meter/meter.ts'
import { cache, coinGecko, now, type Services } from '../../../lib/services.ts'
import { contract } from './contract.ts'

const MAX_FOUND = 100

const SEARCH: CacheNamespace<FoundCoin[]> = {
  name: 'search',
  schema: z.array(FoundCoin),
  freshSeconds: 15 * 60,
  keepSeconds: DAY,
}
const FoundPrice = MarketCoin.pick({ id: true, price: true, change24h: true })
type FoundPrice = z.output<typeof FoundPrice>
const FOUND_PRICES: CacheNamespace<FoundPrice[]> = {
  name: 'found-prices',
  schema: z.array(FoundPrice),
  freshSeconds: 60,
  keepSeconds: HOUR,
}

/**
 * Finds at most 100 coins by name or symbol, largest market cap first. Prices come from CoinGecko or else from the
 * cached market data. If both fail, the coins have no prices. Throws `upstream_*` if no search result is cached and
 * CoinGecko fails. A search that finds nothing counts as failed if the cached market data has a coin with that id, name
 * or symbol.
 */
export function searchCoins({ cache, coinGecko, now }: Services<'cache' | 'coinGecko' | 'now'>) {
  /** Returns prices from the cached market data. Throws `upstream_unavailable` if the currency's rate is not cached. */
  async function getMarketPrices(currency: Currency): Promise<Aged<FoundPrice[]>> {
    const { market, rates } = await cache.recall({ market: MARKET_DATA_KEY, rates: EXCHANGE_RATES_KEY })
    const conversion = buildConversion(currency, rates)
    const prices = (market?.value ?? []).map(({ id, price, change24h }) => ({
      id,
      price: conversion.amount(price),
      change24h: conversion.change(change24h),
    }))
    return combineAges(prices, [market, ...conversion.answers], now())
  }

  async function fetchFound(text: string): Promise<FoundCoin[]> {
    const found = await coinGecko.searchCoins(text)
    if (found.length > 0) return found.slice(0, MAX_FOUND)
    const { market } = await cache.recall({ market: MARKET_DATA_KEY })
    const isNamed = ({ id, symbol, name }: MarketCoin) => [id, symbol, name].some((word) => word.toLowerCase() === text)
    if (market?.value.some(isNamed)) throw badResponse('CoinGecko: a search does not find a coin of the market')
    return []
  }

  async function fetchPrices(ids: readonly string[], currency: Currency): Promise<FoundPrice[]> {
    const quotes = await coinGecko.fetchCoins(ids, currency)
    if (quotes.size === 0) throw badResponse('CoinGecko: the coins that it found are unknown')
    return [...quotes.values()].filter((quote) => quote !== null)
  }

  return async ({ query: { currency }, body, payFor }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const payment = payFor(REQUEST_UNITS.coingecko)
    const key = body.search.toLowerCase()
    const found = await cache.getOrFetch({ namespace: SEARCH, key }, payment, () => fetchFound(key))
    const ids = found.value.map(({ id }) => id)
    if (ids.length === 0) return { ...found, value: [] }
    const priced = { namespace: FOUND_PRICES, key: `${key}#${currency}` }
    const prices = await toResult(
      pickNewest<FoundPrice[]>(
        { get: () => cache.getOrFetch(priced, payment, () => fetchPrices(ids, currency)), isRecent: () => true },
        { get: () => getMarketPrices(currency), isRecent: () => true },
      ),
    )
    const answer = 'value' in prices ? prices.value : undefined
    const byId = new Map(answer?.value?.map((price) => [price.id, price]))
    const coins = found.value.map(({ apiSymbol, rank, ...coin }) => ({
      ...coin,
      api_symbol: apiSymbol,
      market_cap_rank: rank,
      current_price: byId.get(coin.id)?.price ?? null,
      price_change_percentage_24h: byId.get(coin.id)?.change24h ?? null,
    }))
    return combineAges(coins, [found, answer], now())
  }
}

export const handler = endpoint(contract, { cache, coinGecko, now }, searchCoins)
