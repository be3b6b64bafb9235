import type { SharedCache } from '../cache/cache.ts'
import { evmChain } from '../chain/registry.ts'
import { logger } from '../core/logger.ts'
import { withDeadline } from '../core/side-by-side.ts'
import { pricesKey } from './cache-keys.ts'
import { decimal, times, toNumber, toWholeTokens } from './decimal.ts'

/** Maximum milliseconds for which a request waits for cached prices. After that they count as unknown. */
const DEADLINE_MS = 1_000

type Token = { readonly chainId: number; readonly address: string; readonly decimals: number }

/**
 * Function that returns the value in US dollars of a token amount in its smallest unit. It returns null if the token's
 * price is unknown.
 */
export type ComputeTokenValue = (token: Token, amount: bigint) => number | null

/**
 * Returns a function that reads the cached token prices of these chains. The function never throws. Prices that cannot
 * be read within a second count as unknown.
 */
export function createTokenValuesReader({ cache }: { readonly cache: Pick<SharedCache, 'recall'> }) {
  const readPrices = async (chainIds: Iterable<number>) => {
    const chains = [...new Set(chainIds)].flatMap((chainId) => evmChain(chainId) ?? [])
    const prices = await cache.recall(Object.fromEntries(chains.map(({ id, key }) => [id, pricesKey(key)])))
    return new Map(chains.map(({ id }) => [id, prices[id]?.value]))
  }
  return async (chainIds: Iterable<number>): Promise<ComputeTokenValue> => {
    const prices = await withDeadline(DEADLINE_MS, readPrices(chainIds)).catch((error: unknown) => {
      logger.warn('prices not read', { reason: String(error) })
      return undefined
    })
    return ({ chainId, address, decimals }, amount) => {
      const price = prices?.get(chainId)?.[address]
      if (price === undefined) return null
      const value = toNumber(times(toWholeTokens(amount, decimals), decimal(price.now)))
      return Number.isFinite(value) ? value : null
    }
  }
}
