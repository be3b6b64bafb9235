import * as z from 'zod'
import { combineAges, isOverdue } from '../../../lib/cache/aged.ts'
import type { Aged, CacheNamespace } from '../../../lib/cache/cache.ts'
import { CHAINS } from '../../../lib/chain/registry.ts'
import { AppError, badResponse } from '../../../lib/core/errors.ts'
import { DAY, HOUR } from '../../../lib/core/time.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { EXCHANGE_RATES_KEY, MARKET_DATA_KEY, TOKENS_KEYS } from '../../../lib/markets/cache-keys.ts'
import { CoinQuote, type ListedToken, type MarketCoin } from '../../../lib/markets/coin.ts'
import { buildConversion } from '../../../lib/markets/convert.ts'
import type { Currency } from '../../../lib/markets/currency.ts'
import { coinNameById, fetchPrices, pickNewest } from '../../../lib/markets/source.ts'
import { listSupportedTokens } from '../../../lib/markets/tokens.ts'
import { type PayFor, REQUEST_UNITS } from '../../../lib/meter/meter.ts'
import { cache, coinGecko, isListedCoin, now, priceSources, type Services } from '../../../lib/services.ts'
import { contract } from './contract.ts'

/** Market data of one coin in one currency, and the addresses of its tokens by CoinGecko's name of the chain. */
const Coin = CoinQuote.extend({ platforms: z.record(z.string(), z.string()) })
type Coin = z.output<typeof Coin>

const COIN: CacheNamespace<Coin | null> = {
  name: 'coin',
  schema: Coin.nullable(),
  freshSeconds: 60,
  keepSeconds: DAY,
}
const DollarPrice = z.object({ price: z.number().nonnegative(), at: z.number().int() })
const DOLLAR_PRICE: CacheNamespace<z.output<typeof DollarPrice> | null> = {
  name: 'dollar-price',
  schema: DollarPrice.nullable(),
  freshSeconds: 60,
  keepSeconds: HOUR,
}

/**
 * Returns a coin by its CoinGecko id. While CoinGecko fails, the coin comes from the cached market data. If that data
 * is stale, another source supplies the price. Requests nothing for a coin that CoinGecko does not list. Throws
 * `coin_not_found`, `too_many_requests` or `upstream_*`.
 */
export function getCoin({
  cache,
  coinGecko,
  isListedCoin,
  priceSources,
  now,
}: Services<'cache' | 'coinGecko' | 'isListedCoin' | 'priceSources' | 'now'>) {
  async function fetchQuote(id: string, currency: Currency, isListed: boolean): Promise<Coin | null> {
    const [quotes, cached] = await Promise.all([coinGecko.fetchCoins([id], currency), cache.recall(TOKENS_KEYS)])
    const quote = quotes.get(id)
    if (quote === undefined && isListed) throw badResponse('CoinGecko: a listed coin is unknown')
    return quote ? { ...quote, platforms: platformsOf(id, cached) } : null
  }

  /** Returns a coin from the cached market data. Throws `upstream_unavailable` if the coin, its price or the currency's rate is missing. */
  async function getFromMarket(id: string, currency: Currency, payFor: PayFor): Promise<Aged<Coin | null>> {
    const { market, rates, ...tokens } = await cache.recall({
      market: MARKET_DATA_KEY,
      rates: EXCHANGE_RATES_KEY,
      ...TOKENS_KEYS,
    })
    const listed = market?.value.find((coin) => coin.id === id)
    if (!market || !listed) throw unavailable('the coin is not in the cached market')

    const conversion = buildConversion(currency, rates)
    const asCoin = (coin: MarketCoin, at: Date, part: Aged<unknown>) => {
      const price = conversion.amount(coin.price)
      if (price === null) throw unavailable('the cached market has no price of the coin')
      const quote: Coin = {
        ...coin,
        ...UNKNOWN,
        price,
        marketCap: conversion.amount(coin.marketCap),
        volume: conversion.amount(coin.volume),
        change24h: conversion.change(coin.change24h),
        updatedAt: at.getTime(),
        platforms: platformsOf(id, tokens),
      }
      return combineAges(quote, [part, ...conversion.answers], now())
    }
    const repriced = async () => {
      const dollars = await cache.getOrFetch(
        { namespace: DOLLAR_PRICE, key: id },
        payFor(REQUEST_UNITS.defillama),
        async () => {
          const coin = coinNameById(id)
          const { prices, failure } = await fetchPrices(priceSources, [coin])
          if (failure) throw failure
          return prices.get(coin) ?? null
        },
      )
      if (!dollars.value) return { ...dollars, value: null }
      const { price, at } = dollars.value
      // The cached change, market cap and volume are older than the price and would contradict it. So they are reported
      // as unknown.
      return asCoin({ ...listed, price, marketCap: null, volume: null, change24h: null }, new Date(at), dollars)
    }
    return pickNewest<Coin>(
      { get: async () => asCoin(listed, market.asOf, market), isRecent: () => !market.isStale },
      { get: repriced, isRecent: () => true },
    )
  }

  return async ({
    path: { id },
    query: { currency },
    payFor,
  }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const isListed = await isListedCoin(id)
    if (isListed === false) throw new AppError('coin_not_found')
    const { value, ...age } = await pickNewest(
      {
        get: () =>
          cache.getOrFetch({ namespace: COIN, key: `${id}#${currency}` }, payFor(REQUEST_UNITS.coingecko), () =>
            fetchQuote(id, currency, isListed === true),
          ),
        isRecent: (answer) => !isOverdue(answer, COIN, now()),
      },
      { get: () => getFromMarket(id, currency, payFor), isRecent: () => true },
    )
    if (!value) throw new AppError('coin_not_found')
    return { value: toReply(value, currency), ...age }
  }
}

/** Fields that only CoinGecko supplies. They are unknown while CoinGecko fails. */
const UNKNOWN = {
  high24h: null,
  low24h: null,
  priceChange24h: null,
  circulatingSupply: null,
  totalSupply: null,
  maxSupply: null,
  allTimeHigh: null,
  allTimeLow: null,
}

function platformsOf(
  id: string,
  cached: Readonly<Record<keyof typeof TOKENS_KEYS, Aged<ListedToken[]> | undefined>>,
): Record<string, string> {
  const platforms = CHAINS.flatMap((chain) => {
    const tokens = listSupportedTokens(chain, cached[`tokens ${chain.key}`])
    const token = tokens.find(({ coinGeckoId, address }) => coinGeckoId === id && address !== 'native')
    return token ? [[chain.coinGeckoPlatform, token.address] as const] : []
  })
  return Object.fromEntries(platforms)
}

function unavailable(why: string): AppError {
  return new AppError('upstream_unavailable', { cause: new Error(why) })
}

function toReply(coin: Coin, currency: Currency) {
  return {
    id: coin.id,
    symbol: coin.symbol,
    name: coin.name,
    image: coin.image,
    current_price: coin.price,
    market_cap: coin.marketCap,
    market_cap_rank: coin.rank,
    total_volume: coin.volume,
    high_24h: coin.high24h,
    low_24h: coin.low24h,
    price_change_24h: coin.priceChange24h,
    price_change_percentage_24h: coin.change24h,
    circulating_supply: coin.circulatingSupply,
    total_supply: coin.totalSupply,
    max_supply: coin.maxSupply,
    ath: coin.allTimeHigh,
    atl: coin.allTimeLow,
    last_updated: new Date(coin.updatedAt),
    currency,
    platforms: coin.platforms,
  }
}

export const handler = endpoint(contract, { cache, coinGecko, isListedCoin, now, priceSources }, getCoin)
