import type { SharedCache } from '../cache/cache.ts'
import { MINUTE } from '../time.ts'
import { COIN_IDS } from './cache-keys.ts'

/** For how long a container remembers the list, which is a read of 150 KB. */
const REMEMBERED_MS = 10 * MINUTE * 1000

type Dependencies = {
  readonly cache: Pick<SharedCache, 'get'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Whether CoinGecko has a coin of this id; undefined where no list of all coins is cached that is younger than a day. */
export type IsListedCoin = (id: string) => Promise<boolean | undefined>

/** An IsListedCoin that reads the list at its first call, and every ten minutes where there is one. */
export function listedCoins({ cache, now }: Dependencies): IsListedCoin {
  let remembered: { readonly ids: ReadonlySet<string>; readonly until: number } | undefined
  return async (id) => {
    if (!remembered || remembered.until <= now()) {
      const { all } = await cache.get({ all: COIN_IDS })
      if (!all || all.isStale) return undefined
      remembered = { ids: new Set(all.value), until: now() + REMEMBERED_MS }
    }
    return remembered.ids.has(id)
  }
}
