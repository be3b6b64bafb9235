import type { SharedCache } from '../cache/cache.ts'
import { evmChain } from '../chain/registry.ts'
import { logger } from '../core/logger.ts'
import { withDeadline } from '../core/side-by-side.ts'
import { pricesKey } from './cache-keys.ts'
import { decimal, times, tokens, toNumber } from './decimal.ts'

/** Milliseconds for which a request waits for prices. */
const DEADLINE_MS = 1_000

type Token = { readonly chainId: number; readonly address: string; readonly decimals: number }

/** Function that returns the value of an amount of a token, in its smallest unit, in US dollars; null if the price is unknown. */
export type TokenValue = (token: Token, amount: bigint) => number | null

/**
 * Returns a function that reads the cached token prices of these chains. It never fails: prices that it cannot read within a second are
 * unknown.
 */
export function tokenValues({ cache }: { readonly cache: Pick<SharedCache, 'recall'> }) {
  const readPrices = async (chainIds: Iterable<number>) => {
    const chains = [...new Set(chainIds)].flatMap((chainId) => evmChain(chainId) ?? [])
    const prices = await cache.recall(Object.fromEntries(chains.map(({ id, key }) => [id, pricesKey(key)])))
    return new Map(chains.map(({ id }) => [id, prices[id]?.value]))
  }
  return async (chainIds: Iterable<number>): Promise<TokenValue> => {
    const prices = await withDeadline(DEADLINE_MS, readPrices(chainIds)).catch((error: unknown) => {
      logger.warn('prices not read', { reason: String(error) })
      return undefined
    })
    return ({ chainId, address, decimals }, amount) => {
      const price = prices?.get(chainId)?.[address]
      if (price === undefined) return null
      const value = toNumber(times(tokens(amount, decimals), decimal(price.now)))
      return Number.isFinite(value) ? value : null
    }
  }
}
