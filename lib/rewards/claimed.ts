import type { Address } from 'viem'
import type { CacheKey, Namespace, SharedCache } from '../cache/cache.ts'
import { logger } from '../core/logger.ts'
import { DAY, MINUTE } from '../core/time.ts'
import { ReportedRewards } from './merkl.ts'

// The chain decides the payable amount, so an old report cannot overpay.
const REWARDS: Namespace<ReportedRewards> = {
  name: 'rewards',
  schema: ReportedRewards,
  freshSeconds: 5 * MINUTE,
  keepSeconds: DAY,
}

/** Returns the cache key of an account's rewards on all chains. */
export function rewardsKey(account: Address): CacheKey<ReportedRewards> {
  return { namespace: REWARDS, key: account }
}

type Claimed = { readonly token: Address; readonly claimed: bigint }

/**
 * Reads the amounts that campaigns of a vault have paid an account, by token, from the cached report. Returns null without a
 * report of the last day. Never calls the source and never throws.
 */
export async function readClaimed(
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
