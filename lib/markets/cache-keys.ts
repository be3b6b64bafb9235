import * as z from 'zod'
import type { CacheKey, Namespace } from '../cache/cache.ts'
import { CHAINS, type ChainKey } from '../chain/registry.ts'
import { DAY, MINUTE } from '../core/time.ts'
import { ListedToken, MarketCoin, TokenPrice } from './coin.ts'
import { CURRENCIES, type Currency, ExchangeRate } from './currency.ts'

// Each stays fresh somewhat longer than its job's interval: a stale entry means that the job failed. Containers remember the few keys: 3 MB
// for a market of 2,400 tokens.
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

/** Returns the key of a chain's supported tokens, with its own coin; written by refresh-tokens. */
export function tokensKey(chainKey: string): CacheKey<ListedToken[]> {
  return { namespace: TOKENS, key: chainKey }
}

/** Returns the key of a chain's token prices, by `address`; written by refresh-market. */
export function pricesKey(chainKey: string): CacheKey<Record<string, TokenPrice>> {
  return { namespace: PRICES, key: chainKey }
}

/** CoinGecko's ids of all coins; written by refresh-tokens. A list older than a day does not prove a coin's absence. */
export const COIN_IDS: CacheKey<string[]> = {
  namespace: {
    name: 'coin-ids',
    schema: z.array(z.string()),
    freshSeconds: DAY,
    keepSeconds: 7 * DAY,
    // It changes hourly, and a read takes 150 KB.
    rememberedSeconds: 10 * MINUTE,
  },
  key: 'all',
}

/** Keys of every chain's supported tokens, named `tokens <chain key>`. */
export const ALL_TOKENS = ofEveryChain('tokens', tokensKey)
/** Keys of every chain's token prices, named `prices <chain key>`. */
export const ALL_PRICES = ofEveryChain('prices', pricesKey)

/** The 1,000 largest coins by market cap, in US dollars; written by refresh-market. */
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

/** Value of a US dollar in every currency with a known rate; written by refresh-market. */
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

function ofEveryChain<Word extends string, T>(word: Word, keyOf: (chainKey: string) => CacheKey<T>) {
  const keys = CHAINS.map(({ key }) => [`${word} ${key}`, keyOf(key)] as const)
  // The cast restores the names, which `fromEntries` loses.
  return Object.fromEntries(keys) as Record<`${Word} ${ChainKey}`, CacheKey<T>>
}
