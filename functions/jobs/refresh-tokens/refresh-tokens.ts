import type { SharedCache } from '../../../lib/cache/cache.ts'
import { CHAINS } from '../../../lib/chain/registry.ts'
import { logger } from '../../../lib/logger.ts'
import { ALL_TOKENS, tokensOf } from '../../../lib/markets/cached.ts'
import type { ListedToken } from '../../../lib/markets/coin.ts'
import type { CoinGecko } from '../../../lib/markets/coingecko.ts'
import type { LiFi } from '../../../lib/markets/lifi.ts'
import { supportedTokens } from '../../../lib/markets/tokens.ts'
import { resultOf, valueIn } from '../../../lib/result.ts'

type Chain = (typeof CHAINS)[number]

type Dependencies = {
  readonly cache: Pick<SharedCache, 'get' | 'put'>
  readonly liFi: Pick<LiFi, 'fetchTokens'>
  readonly coinGecko: Pick<CoinGecko, 'fetchCoinIds'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** What a run over the lists of tokens did. */
export type TokensReport = {
  /** The tokens that are listed now, on the chains whose list is new. */
  readonly tokens: number
  /** How many of them CoinGecko knows. */
  readonly withId: number
  /** Whether CoinGecko's ids are new, or those known before. */
  readonly areIdsNew: boolean
  /** The chains that keep the list they had. */
  readonly keptChains: string[]
  /** The age of the oldest list. */
  readonly lagSeconds: number
}

/** Less than this part of what was kept is not a list but a failure. */
const LEAST_PART = 0.5
/** A list that was never kept is older than any that is. */
const NEVER_KEPT_MS = 7 * 86_400_000

/**
 * Keeps LI.FI's list of every chain's tokens, with CoinGecko's ids by contract. A chain of which LI.FI tells nothing, or
 * less than half of what was kept, keeps its list; without new ids the tokens have those known before. Throws
 * `upstream_*` when LI.FI fails.
 */
export async function refreshTokens({ cache, liFi, coinGecko, now }: Dependencies): Promise<TokensReport> {
  const [lists, ids, kept] = await Promise.all([
    resultOf(liFi.fetchTokens()),
    resultOf(coinGecko.fetchCoinIds()),
    cache.get(ALL_TOKENS),
  ])
  const listed = valueIn(lists)
  const refreshed: ListedToken[] = []
  const keptChains: string[] = []
  let lagSeconds = 0
  for (const chain of CHAINS) {
    const before = kept[`tokens ${chain.key}`]
    const fetched = listed.get(chain.key) ?? []
    if (fetched.length === 0 || fetched.length < (before?.value.length ?? 0) * LEAST_PART) {
      logger.warn('a chain keeps its tokens', { chain: chain.key, tokens: fetched.length })
      keptChains.push(chain.key)
      const ageMs = before ? now() - before.asOf.getTime() : NEVER_KEPT_MS
      lagSeconds = Math.max(lagSeconds, Math.round(ageMs / 1000))
      continue
    }
    const idOf = 'value' in ids ? idIn(ids.value, chain) : idBefore(supportedTokens(chain, before))
    const tokens = fetched.map((token) => ({
      ...token,
      coinGeckoId: token.address === 'native' ? chain.nativeCoin.coinGeckoId : (idOf(token.address) ?? ''),
    }))
    await cache.put(tokensOf(chain.key), tokens)
    refreshed.push(...tokens)
  }
  return {
    tokens: refreshed.length,
    withId: refreshed.filter(({ coinGeckoId }) => coinGeckoId !== '').length,
    areIdsNew: 'value' in ids,
    keptChains,
    lagSeconds,
  }
}

type IdOf = (address: string) => string | undefined

function idIn(ids: ReadonlyMap<string, string>, { kind, coinGeckoPlatform }: Chain): IdOf {
  return (address) => ids.get(`${coinGeckoPlatform}:${kind === 'evm' ? address.toLowerCase() : address}`)
}

function idBefore(tokens: readonly ListedToken[]): IdOf {
  const ids = new Map(tokens.map(({ address, coinGeckoId }) => [address, coinGeckoId]))
  return (address) => ids.get(address)
}
