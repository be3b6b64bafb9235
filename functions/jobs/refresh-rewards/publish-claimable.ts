import type { Address } from 'viem'
import type * as z from 'zod'
import { logger } from '../../../lib/core/logger.ts'
import { toResult } from '../../../lib/core/result.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/core/time.ts'
import { FREE_PAYMENT } from '../../../lib/meter/meter.ts'
import { readRewards } from '../../../lib/rewards/read-rewards.ts'
import { type ChainRewardsReport, fetchReportedRewards } from '../../../lib/rewards/reported.ts'
import { MIN_REWARD_USD, type RewardResponse } from '../../../lib/rewards/responses.ts'
import type { WatchedAccount } from '../../../lib/rewards/watched-store.ts'
import type { Services } from '../../../lib/services.ts'
import { publishNotices } from '../../../lib/webhooks/append.ts'
import type { RewardNotice } from '../../../lib/webhooks/event.ts'

type ClaimableServices = Parameters<typeof publishNotices>[0] &
  Services<'watchedAccounts' | 'cache' | 'merkl' | 'getReader' | 'getTokenValues' | 'sleep'>

/** Pause between two requests to Merkl. With it, the concurrent runs for all chains send fewer than 10 requests per second in total. */
const PAUSE_MS = 2_000

/**
 * Publishes events about the claimable rewards of due accounts to the clients that watch the accounts. An account is
 * due again after a day, or when a dispute period ends. An account that cannot be read is due again after an hour and
 * does not delay the others. Throws if the table or the queue cannot be reached.
 */
export async function publishClaimableRewards(
  dependencies: ClaimableServices,
  chainId: number,
  due: readonly WatchedAccount[],
): Promise<{ readonly checked: number; readonly unread: number; readonly claimable: number }> {
  const { watchedAccounts, now } = dependencies
  if (due.length === 0) return { checked: 0, unread: 0, claimable: 0 }
  const found = await findClaimable(dependencies, chainId, due)
  const clientsOf = new Map(
    [...found].flatMap(([{ clientId }, { notices }]) => notices.map((one) => [one, [clientId]])),
  )
  const claimable = await publishNotices(dependencies, [...clientsOf.keys()], (notice) => clientsOf.get(notice) ?? [])
  // The accounts are postponed after publishing. If the job crashes before, the next run publishes the same events with
  // the same keys again.
  for (const one of due) await watchedAccounts.postpone(one, found.get(one)?.dueAt ?? now() + HOUR_MS)
  return { checked: found.size, unread: due.length - found.size, claimable }
}

/** Events to publish for an account, and the time in epoch milliseconds at which the account is due again. */
type Found = { readonly notices: readonly RewardNotice[]; readonly dueAt: number }

/** Reads the rewards of these accounts with one request to the chain, and builds their events. Omits accounts that could not be read. */
async function findClaimable(
  { cache, merkl, getReader, getTokenValues, sleep, now }: ClaimableServices,
  chainId: number,
  due: readonly WatchedAccount[],
): Promise<ReadonlyMap<WatchedAccount, Found>> {
  const reported = new Map<WatchedAccount, ChainRewardsReport>()
  const failures: unknown[] = []
  for (const [index, one] of due.entries()) {
    const { account } = one
    if (index > 0) await sleep(PAUSE_MS)
    const question = { account, chainIds: [chainId], payment: FREE_PAYMENT }
    const result = await toResult(fetchReportedRewards({ cache, merkl }, question))
    const [ofChain] = 'value' in result ? result.value : []
    if (ofChain && !ofChain.isStale) reported.set(one, ofChain)
    else failures.push('error' in result ? result.error.cause : 'the source has failed')
  }
  const accounts = [...reported].map(([{ account }, of]) => ({ account, ...of }))
  const read = await toResult(readRewards(getReader(chainId), accounts, await getTokenValues([chainId])))
  if ('error' in read) failures.push(read.error.cause)
  if (failures.length > 0) {
    logger.warn('rewards not read', { chainId, accounts: failures.length, reason: String(failures[0]) })
  }
  if ('error' in read) return new Map()
  const { rewards, evidence } = read.value
  const [block] = evidence
  const found = [...reported.keys()].flatMap((one, index) => {
    const ofAccount = rewards[index]
    if (!ofAccount) return []
    const notices = ofAccount.flatMap(
      (reward) => (block && buildClaimableNotice(one.account, reward, block.timestamp)) ?? [],
    )
    // Merkl's proofs may already belong to a new Merkle root. The rewards are not claimable before the root's dispute
    // period ends. A check at the same time each day could always fall into a dispute period. So the next check is at
    // the end of the period.
    const [next] = ofAccount.flatMap(({ claimableAt }) => claimableAt ?? [])
    return [[one, { notices, dueAt: next?.getTime() ?? now() + DAY_MS }] as const]
  })
  return new Map(found)
}

/**
 * Builds the event for a claimable reward of an account, read from a block with this timestamp. Returns undefined for a
 * reward that is worth less than a dollar or has no price. Also returns undefined if a claim would pay another address
 * than the account. The service does not prepare such claims.
 */
export function buildClaimableNotice(
  account: Address,
  { chainId, token, symbol, decimals, amount, claimed, usd, recipient }: z.output<typeof RewardResponse>,
  timestamp: Date,
): RewardNotice | undefined {
  if (recipient !== account || decimals === null || usd === null || usd < MIN_REWARD_USD) return undefined
  return {
    type: 'reward.claimable',
    // The key contains the total amount that the account ever earned. So the same total is published only once.
    key: `${chainId}#${account}#${token}#claimable#${claimed + amount}`,
    ...{ timestamp, final: true },
    data: { chainId, userAddress: account, token, symbol, decimals, amount, usd },
  }
}
