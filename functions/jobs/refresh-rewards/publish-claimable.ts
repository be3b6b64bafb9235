import type { Address } from 'viem'
import type * as z from 'zod'
import { logger } from '../../../lib/core/logger.ts'
import { toResult } from '../../../lib/core/result.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/core/time.ts'
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
/** Milliseconds before a run's end in which it no longer calls Merkl. Reading the chain and publishing need them. */
const LAST_READS_MS = MINUTE_MS

/**
 * Publishes events about the claimable rewards of due accounts to the clients that watch the accounts. An account is
 * due again after a day, or when a dispute period ends. An account that cannot be read is due again after an hour and
 * does not delay the others. Accounts for which the run has no time stay due. Throws if the table or the queue cannot
 * be reached.
 */
export async function publishClaimableRewards(
  dependencies: ClaimableServices,
  { chainId, due, remainingMs }: DueAccounts,
): Promise<{ readonly checked: number; readonly unread: number; readonly claimable: number }> {
  const { watchedAccounts, now } = dependencies
  if (due.length === 0) return { checked: 0, unread: 0, claimable: 0 }
  const checks = await checkAccounts(dependencies, { chainId, due, remainingMs })
  const clientsOf = new Map(
    [...checks].flatMap(([{ clientId }, check]) => (check?.notices ?? []).map((one) => [one, [clientId]])),
  )
  const claimable = await publishNotices(dependencies, [...clientsOf.keys()], (notice) => clientsOf.get(notice) ?? [])
  // The accounts are postponed after publishing. If the job crashes before, the next run publishes the same events with
  // the same keys again.
  for (const [one, check] of checks) await watchedAccounts.postpone(one, check?.dueAt ?? now() + HOUR_MS)
  const checked = [...checks.values()].filter((check) => check !== undefined).length
  return { checked, unread: checks.size - checked, claimable }
}

/** Accounts of a chain that are due, and the milliseconds that the run has left. */
type DueAccounts = {
  readonly chainId: number
  readonly due: readonly WatchedAccount[]
  readonly remainingMs: () => number
}

/** Events to publish for an account, and the time in epoch milliseconds at which the account is due again. */
type Check = { readonly notices: readonly RewardNotice[]; readonly dueAt: number }

/**
 * Reads the rewards of these accounts with one request to the chain, and builds their events. Returns undefined for an
 * account that could not be read. Omits accounts for which the run has no time.
 */
async function checkAccounts(
  { cache, merkl, getReader, getTokenValues, sleep, now }: ClaimableServices,
  { chainId, due, remainingMs }: DueAccounts,
): Promise<ReadonlyMap<WatchedAccount, Check | undefined>> {
  const checks = new Map<WatchedAccount, Check | undefined>()
  const reported = new Map<WatchedAccount, ChainRewardsReport>()
  const failures: unknown[] = []
  for (const one of due) {
    if (remainingMs() < LAST_READS_MS) break
    const { account } = one
    if (checks.size > 0) await sleep(PAUSE_MS)
    const question = { account, chainIds: [chainId], payment: FREE_PAYMENT }
    const result = await toResult(fetchReportedRewards({ cache, merkl }, question))
    const [ofChain] = 'value' in result ? result.value : []
    if (ofChain && !ofChain.isStale) reported.set(one, ofChain)
    else failures.push('error' in result ? result.error.cause : 'the source has failed')
    checks.set(one, undefined)
  }
  const accounts = [...reported].map(([{ account }, of]) => ({ account, ...of }))
  const read = await toResult(readRewards(getReader(chainId), accounts, await getTokenValues([chainId])))
  if ('error' in read) failures.push(read.error.cause)
  if (failures.length > 0) {
    logger.warn('rewards not read', { chainId, accounts: failures.length, reason: String(failures[0]) })
  }
  if ('error' in read) return checks
  const { rewards, evidence } = read.value
  const [block] = evidence
  for (const [index, one] of [...reported.keys()].entries()) {
    const ofAccount = rewards[index] ?? []
    const notices = ofAccount.flatMap(
      (reward) => (block && buildClaimableNotice(one.account, reward, block.timestamp)) ?? [],
    )
    // Merkl's proofs may already belong to a new Merkle root. The rewards are not claimable before the root's dispute
    // period ends. A check at the same time each day could always fall into a dispute period. So the next check is at
    // the end of the period.
    const [next] = ofAccount.flatMap(({ claimableAt }) => claimableAt ?? [])
    checks.set(one, { notices, dueAt: next?.getTime() ?? now() + DAY_MS })
  }
  return checks
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
