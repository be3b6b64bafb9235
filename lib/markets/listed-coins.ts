import type { SharedCache } from '../cache/cache.ts'
import { oncePer } from '../core/once.ts'
import { COIN_IDS_KEY } from './cache-keys.ts'

/**
 * Function that returns true if CoinGecko lists a coin with this id. It returns undefined if the cached list of ids is
 * missing or older than a day.
 */
export type IsListedCoin = (id: string) => Promise<boolean | undefined>

/** Returns the function that looks up a coin id in the cached list of ids. The container keeps the list in memory. */
export function createListedCoinLookup({ cache }: { readonly cache: Pick<SharedCache, 'recall'> }): IsListedCoin {
  const setOf = oncePer(async (ids: readonly string[]) => new Set(ids))
  return async (id) => {
    const { all } = await cache.recall({ all: COIN_IDS_KEY })
    return all && !all.isStale ? (await setOf(all.value)).has(id) : undefined
  }
}
