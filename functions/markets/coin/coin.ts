import * as z from 'zod'
import { combine, isOverdue } from '../../../lib/cache/aged.ts'
import type { Aged, Namespace, SharedCache } from '../../../lib/cache/cache.ts'
import { CHAINS } from '../../../lib/chain/registry.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { ALL_TOKENS, MARKET, RATES } from '../../../lib/markets/cached.ts'
import { CoinQuote, type ListedToken, type MarketCoin } from '../../../lib/markets/coin.ts'
import type { CoinGecko } from '../../../lib/markets/coingecko.ts'
import { conversionInto } from '../../../lib/markets/convert.ts'
import type { Currency } from '../../../lib/markets/currency.ts'
import type { DefiLlama } from '../../../lib/markets/defillama.ts'
import { supportedTokens } from '../../../lib/markets/tokens.ts'
import { resultOf, valueIn } from '../../../lib/result.ts'
import type { Services } from '../../../lib/services.ts'
import type { contract } from './contract.ts'

type Dependencies = {
  readonly cache: Pick<SharedCache, 'get' | 'getOrFetch'>
  readonly coinGecko: Pick<CoinGecko, 'fetchCoins'>
  readonly defiLlama: Pick<DefiLlama, 'fetchPrices'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** A coin in one currency, and where it is a supported token: its address by CoinGecko's platform. */
const Coin = CoinQuote.extend({ platforms: z.record(z.string(), z.string()) })
export type Coin = z.output<typeof Coin>

const COIN: Namespace<Coin | null> = {
  name: 'coin',
  schema: Coin.nullable(),
  freshSeconds: 60,
  keepSeconds: 24 * 3600,
}
const DollarPrice = z.object({ price: z.number().nonnegative(), at: z.number().int() })
const DOLLAR_PRICE: Namespace<z.output<typeof DollarPrice> | null> = {
  name: 'dollar-price',
  schema: DollarPrice.nullable(),
  freshSeconds: 60,
  keepSeconds: 3600,
}

/**
 * A coin by CoinGecko's id: as CoinGecko tells it, or, while CoinGecko fails, as the market that is kept does, with
 * DefiLlama's price where the market is too old. Throws `coin_not_found` or `upstream_*`.
 */
export async function coinById(dependencies: Dependencies, id: string, currency: Currency): Promise<Aged<Coin>> {
  const { cache, coinGecko, now } = dependencies
  const asked = await resultOf(
    cache.getOrFetch({ namespace: COIN, key: `${id}#${currency}` }, async () => {
      const [[quote], kept] = await Promise.all([coinGecko.fetchCoins([id], currency), cache.get(ALL_TOKENS)])
      return quote ? { ...quote, platforms: platformsOf(id, kept) } : null
    }),
  )
  if ('value' in asked && !isOverdue(asked.value, COIN, now())) return found(asked.value)

  const substitute = await resultOf(substituteFor(dependencies, id, currency))
  if ('error' in substitute) return found(valueIn(asked))
  const isNewer = !('value' in asked) || !asked.value.value || asked.value.asOf < substitute.value.asOf
  return isNewer ? substitute.value : found(asked.value)
}

/** A coin as the kept market has it. Throws `upstream_unavailable` for a coin, or a currency, that is not there. */
async function substituteFor(
  { cache, defiLlama, now }: Dependencies,
  id: string,
  currency: Currency,
): Promise<Aged<Coin>> {
  const { market, rates, ...tokens } = await cache.get({ market: MARKET, rates: RATES, ...ALL_TOKENS })
  const listed = market?.value.find((coin) => coin.id === id)
  if (!market || !listed) throw unavailable('the coin is not in the market that is kept')

  const conversion = conversionInto(currency, rates)
  const asCoin = (coin: MarketCoin, at: Date, part: Aged<unknown>) => {
    const price = conversion.amount(coin.price)
    if (price === null) throw unavailable('the market that is kept has no price of the coin')
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
    return combine(quote, [part, ...conversion.parts], now())
  }
  if (!market.isStale && listed.price !== null) return asCoin(listed, market.asOf, market)

  const dollars = await resultOf(
    cache.getOrFetch({ namespace: DOLLAR_PRICE, key: id }, async () => {
      const coin = `coingecko:${id}`
      return (await defiLlama.fetchPrices([coin])).get(coin) ?? null
    }),
  )
  if (!('value' in dollars && dollars.value.value)) return asCoin(listed, market.asOf, market)
  const { price, at } = dollars.value.value
  // An old change, capitalisation or volume would contradict the price.
  return asCoin({ ...listed, price, marketCap: null, volume: null, change24h: null }, new Date(at), dollars.value)
}

/** What only CoinGecko itself tells. */
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

function found({ value, ...age }: Aged<Coin | null>): Aged<Coin> {
  if (!value) throw new AppError('coin_not_found')
  return { value, ...age }
}

type KeptTokens = { readonly [Name in keyof typeof ALL_TOKENS]: Aged<ListedToken[]> | undefined }

function platformsOf(id: string, kept: KeptTokens): Record<string, string> {
  const places = CHAINS.flatMap((chain) => {
    const tokens = supportedTokens(chain, kept[`tokens ${chain.key}`])
    const token = tokens.find(({ coinGeckoId, address }) => coinGeckoId === id && address !== 'native')
    return token ? [[chain.coinGeckoPlatform, token.address] as const] : []
  })
  return Object.fromEntries(places)
}

function unavailable(why: string): AppError {
  return new AppError('upstream_unavailable', { cause: new Error(why) })
}

export const getCoin =
  (services: Services<'cache' | 'coinGecko' | 'defiLlama' | 'now'>) =>
  async ({ path, query: { currency } }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { value, ...age } = await coinById(services, path.id, currency)
    return {
      value: {
        id: value.id,
        symbol: value.symbol,
        name: value.name,
        image: value.image,
        current_price: value.price,
        market_cap: value.marketCap,
        market_cap_rank: value.rank,
        total_volume: value.volume,
        high_24h: value.high24h,
        low_24h: value.low24h,
        price_change_24h: value.priceChange24h,
        price_change_percentage_24h: value.change24h,
        circulating_supply: value.circulatingSupply,
        total_supply: value.totalSupply,
        max_supply: value.maxSupply,
        ath: value.allTimeHigh,
        atl: value.allTimeLow,
        last_updated: new Date(value.updatedAt),
        currency,
        platforms: value.platforms,
      },
      ...age,
    }
  }
