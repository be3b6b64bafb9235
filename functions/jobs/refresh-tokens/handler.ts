import type * as z from 'zod'
import { CHAINS } from '../../../lib/chain/registry.ts'
import { badResponse } from '../../../lib/core/errors.ts'
import { logger } from '../../../lib/core/logger.ts'
import { toResult, unwrap } from '../../../lib/core/result.ts'
import { DAY_MS } from '../../../lib/core/time.ts'
import { job } from '../../../lib/frame/job.ts'
import { COIN_IDS_KEY, TOKENS_KEYS, tokensKey } from '../../../lib/markets/cache-keys.ts'
import type { ListedToken } from '../../../lib/markets/coin.ts'
import { contractKey } from '../../../lib/markets/coingecko.ts'
import { listSupportedTokens } from '../../../lib/markets/tokens.ts'
import { cache, coinGecko, liFi, now, type Services } from '../../../lib/services.ts'
import { contract } from './contract.ts'

type TokensServices = Services<'cache' | 'liFi' | 'coinGecko' | 'now'>

/** Minimum length of a fetched list of tokens or coins, as a fraction of the previous list. A shorter list counts as a failed fetch. */
const MIN_SHARE = 0.5
/** Age in milliseconds that this job's report gives a token list that was never cached. Token lists are cached for at most this time. */
const NEVER_CACHED_MS = 7 * DAY_MS

/**
 * Refreshes the supported tokens of every chain from LI.FI's list, and adds their CoinGecko ids by contract address. A
 * chain keeps its previous tokens if the new list is empty or has less than half as many. Tokens keep their previous
 * ids if CoinGecko fails or returns less than half as many. Throws `upstream_*` if LI.FI fails.
 */
export async function refreshTokens({
  cache,
  liFi,
  coinGecko,
  now,
}: TokensServices): Promise<z.output<typeof contract.report>> {
  const cached = await cache.get({ ...TOKENS_KEYS, COIN_IDS: COIN_IDS_KEY })
  const [lists, ids] = await Promise.all([
    toResult(liFi.fetchTokens()),
    toResult(refreshIds({ cache, coinGecko }, cached.COIN_IDS?.value.length ?? 0)),
  ])
  const listed = unwrap(lists)
  const refreshed: ListedToken[] = []
  const keptChains: string[] = []
  let lagSeconds = 0
  for (const chain of CHAINS) {
    const before = cached[`tokens ${chain.key}`]
    const fetched = listed.get(chain.key) ?? []
    if (fetched.length === 0 || fetched.length < (before?.value.length ?? 0) * MIN_SHARE) {
      logger.warn('a chain keeps its tokens', { chain: chain.key, tokens: fetched.length })
      keptChains.push(chain.key)
      const ageMs = before ? now() - before.asOf.getTime() : NEVER_CACHED_MS
      lagSeconds = Math.max(lagSeconds, Math.round(ageMs / 1000))
      continue
    }
    const idBefore = new Map(
      listSupportedTokens(chain, before).map(({ address, coinGeckoId }) => [address, coinGeckoId]),
    )
    const idOf = (address: string) =>
      'value' in ids ? ids.value.byContract.get(contractKey(chain, address)) : idBefore.get(address)
    const tokens = fetched.map((token) => ({
      ...token,
      coinGeckoId: token.address === 'native' ? chain.nativeCoin.coinGeckoId : (idOf(token.address) ?? ''),
    }))
    await cache.put(tokensKey(chain.key), tokens)
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

async function refreshIds({ cache, coinGecko }: Pick<TokensServices, 'cache' | 'coinGecko'>, before: number) {
  const ids = await coinGecko.fetchCoinIds()
  if (ids.all.length < before * MIN_SHARE) throw badResponse(`a list of ${ids.all.length} coins`)
  await cache.put(COIN_IDS_KEY, ids.all)
  return ids
}

/** Time limit of one request. LI.FI and CoinGecko send lists of megabytes, and no user waits for this job. */
const LIMITS = { deadlineMs: 30_000 }

export const handler = job(
  contract,
  {
    cache,
    coinGecko: (env) => coinGecko(env, LIMITS),
    liFi: (env) => liFi(env, LIMITS),
    now,
  },
  (services) => () => refreshTokens(services),
)
