import type { Address } from 'viem'
import type { SharedCache } from '../cache/cache.ts'
import { EVM_CHAINS } from '../chain/registry.ts'
import { tokensKey } from '../markets/cache-keys.ts'
import type { Payment } from '../meter/meter.ts'
import { createSpamRule } from '../portfolio/spam.ts'
import { rewardsKey } from './claimed.ts'
import type { Merkl, ReportedReward } from './merkl.ts'

/** Rewards that Merkl reports for an account on one chain, without spam. `isWhole` is false if some rewards could not be read. */
export type ChainRewardsReport = {
  readonly chainId: number
  readonly rewards: readonly ReportedReward[]
  readonly isWhole: boolean
  /** True if Merkl failed, so the report is the last successful one. */
  readonly isStale: boolean
  /** Returns true if a token with this symbol looks like spam. */
  readonly isSpam: (token: string, symbol: string) => boolean
}

type ReportRequest = { readonly account: Address; readonly chainIds: readonly number[]; readonly payment: Payment }

/**
 * Returns the rewards that Merkl reports for an account on each of these chains. One request fetches all chains, at
 * most once in five minutes for all clients together. Without a cached report it throws AppError `upstream_*` or
 * `too_many_requests`.
 */
export async function fetchReportedRewards(
  { cache, merkl }: { readonly cache: Pick<SharedCache, 'getOrFetch' | 'recall'>; readonly merkl: Merkl },
  { account, chainIds, payment }: ReportRequest,
): Promise<ChainRewardsReport[]> {
  const chains = EVM_CHAINS.filter(({ id }) => chainIds.includes(id))
  const [{ value, isStale }, tokens] = await Promise.all([
    cache.getOrFetch(rewardsKey(account), payment, () => merkl.fetchRewards(account)),
    cache.recall(Object.fromEntries(chains.map(({ id, key }) => [id, tokensKey(key)]))),
  ])
  return chains.map(({ id: chainId }) => {
    const isSpam = createSpamRule(tokens[chainId]?.value ?? [])
    const rewards = value.rewards.filter((reward) => reward.chainId === chainId && !isSpam(reward.token, reward.symbol))
    return { chainId, rewards, isWhole: !value.unread.includes(chainId), isStale, isSpam }
  })
}
