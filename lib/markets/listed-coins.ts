import type { SharedCache } from '../cache/cache.ts'
import { oncePer } from '../core/once.ts'
import { COIN_IDS } from './cache-keys.ts'

/** True if CoinGecko has a coin of this id; undefined if no cached list is younger than a day. */
export type IsListedCoin = (id: string) => Promise<boolean | undefined>

/** Builds an IsListedCoin from the list that the container remembers. */
export function listedCoins({ cache }: { readonly cache: Pick<SharedCache, 'recall'> }): IsListedCoin {
  const setOf = oncePer(async (ids: readonly string[]) => new Set(ids))
  return async (id) => {
    const { all } = await cache.recall({ all: COIN_IDS })
    return all && !all.isStale ? (await setOf(all.value)).has(id) : undefined
  }
}
