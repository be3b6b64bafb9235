import type { Address } from 'viem'
import type { CacheKey, Namespace, SharedCache } from '../cache/cache.ts'
import { logger } from '../logger.ts'
import { DAY, MINUTE } from '../time.ts'
import { ReportedRewards } from './merkl.ts'

// The chain decides what is payable, so an old report cannot overpay.
const REWARDS: Namespace<ReportedRewards> = {
  name: 'rewards',
  schema: ReportedRewards,
  freshSeconds: 5 * MINUTE,
  keepSeconds: DAY,
}

/** The rewards of an account on all chains. */
export function rewardsKey(account: Address): CacheKey<ReportedRewards> {
  return { namespace: REWARDS, key: account }
}

type Claimed = { readonly token: Address; readonly claimed: bigint }

/**
 * Returns what campaigns of a vault have paid an account, from the last report; null if the source has not been asked for a day.
 * The source is not asked.
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
