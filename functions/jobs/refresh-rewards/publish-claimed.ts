import { toEventSelector } from 'viem'
import { buildEntryId } from '../../../lib/activity/ledger-entry.ts'
import { decodeLog } from '../../../lib/chain/decode.ts'
import { readFinalBlock } from '../../../lib/chain/finality.ts'
import { readTimestamps } from '../../../lib/chain/logs.ts'
import { min } from '../../../lib/core/bigint.ts'
import { runConcurrently } from '../../../lib/core/side-by-side.ts'
import { toDate } from '../../../lib/core/time.ts'
import { DISTRIBUTOR, distributorAbi } from '../../../lib/rewards/distributor.ts'
import type { Services } from '../../../lib/services.ts'
import { publishNotices } from '../../../lib/webhooks/append.ts'
import type { RewardNotice } from '../../../lib/webhooks/event.ts'

const FILTER = { address: DISTRIBUTOR, topics: [toEventSelector('Claimed(address,address,uint256)')] }
/** Maximum number of blocks that one run reads: about seven hours on the fastest chain. */
const MAX_BLOCKS = 100_000n
/** Number of found claims after which one run reads no further block range. */
const MANY_CLAIMS = 1_000

/**
 * Publishes claims of rewards in the final blocks since the last run, to the clients that watch the accounts. Returns
 * the number of new events. Reads no blocks while no account is watched. Throws `upstream_*`. Also throws if the table
 * or the queue cannot be reached.
 */
export async function publishRewardClaims(
  dependencies: Parameters<typeof publishNotices>[0] & Services<'watchedAccounts' | 'getReader'>,
  chainId: number,
  isWatched: boolean,
): Promise<number> {
  const { watchedAccounts, getReader } = dependencies
  const before = await watchedAccounts.getThrough(chainId)
  if (!isWatched) {
    if (before !== undefined) await watchedAccounts.forgetThrough(chainId)
    return 0
  }
  const reader = getReader(chainId)
  const { final } = await readFinalBlock(reader)
  if (before === undefined) {
    await watchedAccounts.recordThrough(chainId, Number(final.number))
    return 0
  }
  const from = BigInt(before) + 1n
  const to = min(final.number, from + MAX_BLOCKS - 1n)
  if (from > to) return 0
  const { logs, through } = await reader.logsUntil(FILTER, from, to, (claims) => claims >= MANY_CLAIMS)
  const claims = logs.flatMap((log) => {
    const event = decodeLog(distributorAbi, log)
    // The contract emits this event even for a claim of zero tokens. Such claims are left out.
    return event?.eventName === 'Claimed' && event.args.amount > 0n ? [{ log, ...event.args }] : []
  })
  const users = new Set(claims.map(({ user }) => user))
  const clients = new Map(
    await runConcurrently(users, async (user) => [user, await watchedAccounts.listClients(chainId, user)] as const),
  )
  const watched = claims.filter(({ user }) => clients.get(user)?.length)
  const timeOf = await readTimestamps(
    reader.request,
    watched.map(({ log }) => log),
  )
  const notices = watched.map(({ log, user, token, amount }): RewardNotice => {
    const { transactionHash, logIndex, blockNumber } = log
    return {
      type: 'reward.claimed',
      key: `${buildEntryId({ chainId, transactionHash, logIndex })}#claimed`,
      ...{ timestamp: toDate(timeOf(log)), final: true },
      data: { chainId, userAddress: user, token, amount, transactionHash, blockNumber: Number(blockNumber) },
    }
  })
  const count = await publishNotices(dependencies, notices, ({ data }) => clients.get(data.userAddress) ?? [])
  // The number of the last read block is stored after publishing. If the job crashes before, the next run publishes the
  // same events with the same keys again.
  await watchedAccounts.recordThrough(chainId, Number(through))
  return count
}
