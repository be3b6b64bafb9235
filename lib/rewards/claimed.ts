import type { Address } from 'viem'
import type { CacheKey, Namespace, SharedCache } from '../cache/cache.ts'
import { logger } from '../core/logger.ts'
import { DAY, MINUTE } from '../core/time.ts'
import { ReportedRewards } from './merkl.ts'

// Reports may be old, because the chain decides the amount of a claim and so never pays too much.
const REWARDS: Namespace<ReportedRewards> = {
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
 * Returns the amounts that campaigns of a vault have paid an account, by token, from the cached report of Merkl. Returns null if there is
 * no report of the last day. Never calls Merkl and never throws.
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
