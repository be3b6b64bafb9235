import * as z from 'zod'
import type { CacheKey, CacheNamespace } from '../cache/cache.ts'
import { CHAINS, type ChainKey } from '../chain/registry.ts'
import { DAY, MINUTE } from '../core/time.ts'
import { ListedToken, MarketCoin, TokenPrice } from './coin.ts'
import { CURRENCIES, type Currency, ExchangeRate } from './currency.ts'

// Cached lists stay fresh longer than the interval of the job that writes them. So a stale list means that the job
// failed. Containers keep these lists in memory: 3 MB for 2,400 tokens.
const TOKENS: CacheNamespace<ListedToken[]> = {
  name: 'tokens',
  schema: z.array(ListedToken),
  freshSeconds: 90 * MINUTE,
  keepSeconds: 7 * DAY,
  rememberedSeconds: MINUTE,
}
const PRICES: CacheNamespace<Record<string, TokenPrice>> = {
  name: 'prices',
  schema: z.record(z.string(), TokenPrice),
  freshSeconds: 12 * MINUTE,
  keepSeconds: DAY,
  rememberedSeconds: MINUTE,
}

/** Returns the cache key of a chain's supported tokens, including its native coin. The job refresh-tokens writes this cache entry. */
export function tokensKey(chainKey: string): CacheKey<ListedToken[]> {
  return { namespace: TOKENS, key: chainKey }
}

/** Returns the cache key of a chain's token prices, by `ListedToken.address`. The job refresh-market writes this cache entry. */
export function pricesKey(chainKey: string): CacheKey<Record<string, TokenPrice>> {
  return { namespace: PRICES, key: chainKey }
}

/**
 * Cache key of the ids of all coins at CoinGecko. The job refresh-tokens writes this cache entry. A list older than a
 * day does not prove that a coin does not exist.
 */
export const COIN_IDS_KEY: CacheKey<string[]> = {
  namespace: {
    name: 'coin-ids',
    schema: z.array(z.string()),
    freshSeconds: DAY,
    keepSeconds: 7 * DAY,
    // The list of coin ids changes only hourly, and each read takes 150 KB. So containers keep it in memory longer than
    // other lists.
    rememberedSeconds: 10 * MINUTE,
  },
  key: 'all',
}

/** Cache keys of the supported tokens of all chains, under the names `tokens <chain key>`. */
export const TOKENS_KEYS = ofEveryChain('tokens', tokensKey)
/** Cache keys of the token prices of all chains, under the names `prices <chain key>`. */
export const PRICES_KEYS = ofEveryChain('prices', pricesKey)

/** Cache key of the market data: the 1,000 largest coins by market cap, in US dollars. The job refresh-market writes this cache entry. */
export const MARKET_DATA_KEY: CacheKey<MarketCoin[]> = {
  namespace: {
    name: 'market',
    schema: z.array(MarketCoin),
    freshSeconds: 40 * MINUTE,
    keepSeconds: DAY,
    rememberedSeconds: MINUTE,
  },
  key: 'usd',
}

/** Cache key of the exchange rates: the value of one US dollar in each currency. The job refresh-market writes this cache entry. */
export const EXCHANGE_RATES_KEY: CacheKey<Partial<Record<Currency, ExchangeRate>>> = {
  namespace: {
    name: 'rates',
    schema: z.partialRecord(z.enum(CURRENCIES), ExchangeRate),
    freshSeconds: 40 * MINUTE,
    keepSeconds: DAY,
    rememberedSeconds: MINUTE,
  },
  key: 'usd',
}

function ofEveryChain<Word extends string, T>(word: Word, keyOf: (chainKey: string) => CacheKey<T>) {
  const keys = CHAINS.map(({ key }) => [`${word} ${key}`, keyOf(key)] as const)
  // The cast restores the property names, because the result type of `fromEntries` does not contain them.
  return Object.fromEntries(keys) as Record<`${Word} ${ChainKey}`, CacheKey<T>>
}
