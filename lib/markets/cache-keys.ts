import * as z from 'zod'
import type { CacheKey, Namespace } from '../cache/cache.ts'
import { CHAINS, type ChainKey } from '../chain/registry.ts'
import { DAY, MINUTE } from '../time.ts'
import { ListedToken, MarketCoin, TokenPrice } from './coin.ts'
import { CURRENCIES, type Currency, ExchangeRate } from './currency.ts'

// Each is fresh for somewhat longer than it takes until its job puts the next one: stale means that the job failed. The keys
// are a closed list, which containers remember: 3 MB of a market of 2,400 tokens.
const TOKENS: Namespace<ListedToken[]> = {
  name: 'tokens',
  schema: z.array(ListedToken),
  freshSeconds: 90 * MINUTE,
  keepSeconds: 7 * DAY,
  rememberedSeconds: MINUTE,
}
const PRICES: Namespace<Record<string, TokenPrice>> = {
  name: 'prices',
  schema: z.record(z.string(), TokenPrice),
  freshSeconds: 12 * MINUTE,
  keepSeconds: DAY,
  rememberedSeconds: MINUTE,
}

/** The supported tokens of the chain with this key, its own coin among them; put by refresh-tokens. */
export function tokensKey(chainKey: string): CacheKey<ListedToken[]> {
  return { namespace: TOKENS, key: chainKey }
}

/** What the supported tokens of the chain with this key are worth, by their `address`; put by refresh-market. */
export function pricesKey(chainKey: string): CacheKey<Record<string, TokenPrice>> {
  return { namespace: PRICES, key: chainKey }
}

/** CoinGecko's ids of all coins; put by refresh-tokens. A list that is a day old tells no more what there is not. */
export const COIN_IDS: CacheKey<string[]> = {
  namespace: {
    name: 'coin-ids',
    schema: z.array(z.string()),
    freshSeconds: DAY,
    keepSeconds: 7 * DAY,
    // It changes hourly, and is a read of 150 KB.
    rememberedSeconds: 10 * MINUTE,
  },
  key: 'all',
}

/** The keys of the supported tokens of every chain, named `tokens <chain key>`. */
export const ALL_TOKENS = ofEveryChain('tokens', tokensKey)
/** The keys of the prices of every chain's tokens, named `prices <chain key>`. */
export const ALL_PRICES = ofEveryChain('prices', pricesKey)

/** The 1,000 largest coins in US dollars, by market cap; put by refresh-market. */
export const MARKET: CacheKey<MarketCoin[]> = {
  namespace: {
    name: 'market',
    schema: z.array(MarketCoin),
    freshSeconds: 40 * MINUTE,
    keepSeconds: DAY,
    rememberedSeconds: MINUTE,
  },
  key: 'usd',
}

/** What a US dollar is in every currency whose rate is known; put by refresh-market. */
export const RATES: CacheKey<Partial<Record<Currency, ExchangeRate>>> = {
  namespace: {
    name: 'rates',
    schema: z.partialRecord(z.enum(CURRENCIES), ExchangeRate),
    freshSeconds: 40 * MINUTE,
    keepSeconds: DAY,
    rememberedSeconds: MINUTE,
  },
  key: 'usd',
}

/** A cache key for every chain, named by a word and the chain's key. */
function ofEveryChain<Word extends string, T>(word: Word, keyOf: (chainKey: string) => CacheKey<T>) {
  const keys = CHAINS.map(({ key }) => [`${word} ${key}`, keyOf(key)] as const)
  // Entries that are put together lose their names.
  return Object.fromEntries(keys) as Record<`${Word} ${ChainKey}`, CacheKey<T>>
}
