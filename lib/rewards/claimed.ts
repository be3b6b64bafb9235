import type { Address } from 'viem'
import type { CacheKey, CacheNamespace, SharedCache } from '../cache/cache.ts'
import { logger } from '../core/logger.ts'
import { DAY, MINUTE } from '../core/time.ts'
import { ReportedRewards } from './merkl.ts'

// Cached reports may be old. A claim never pays too much because of an old report, since the contract verifies the
// amount.
const REWARDS: CacheNamespace<ReportedRewards> = {
  name: 'rewards',
  schema: ReportedRewards,
  freshSeconds: 5 * MINUTE,
  keepSeconds: DAY,
}

/** Returns the cache key of the rewards that Merkl reports for an account on all chains. */
export function rewardsKey(account: Address): CacheKey<ReportedRewards> {
  return { namespace: REWARDS, key: account }
}

type Claimed = { readonly token: Address; readonly claimed: bigint }

/**
 * Returns the amounts that a vault's campaigns have paid an account, by token, from Merkl's cached report. Returns null
 * if no report of the last day is cached. Never calls Merkl and never throws.
 */
export async function readClaimedAmounts(
  cache: Pick<SharedCache, 'get'>,
  vault: { readonly chainId: number; readonly address: string },
  account: Address,
): Promise<Claimed[] | null> {
  const { last } = await cache.get({ last: rewardsKey(account) }).catch((error: unknown) => {
    logger.warn('claimed rewards not read', { reason: String(error) })
    return { last: undefined }
  })
  const ofChain = last?.value.rewards.filter(({ chainId }) => chainId === vault.chainId)
  return (
    ofChain?.flatMap(({ token, vaults: { [vault.address]: claimed } }) => (claimed ? [{ token, claimed }] : [])) ?? null
  )
}
