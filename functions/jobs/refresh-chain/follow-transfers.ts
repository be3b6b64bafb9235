import { relayHash } from '../../../lib/bridge/events.ts'
import { createBudget, FILLED, MOST_CALLS, readFillStatuses } from '../../../lib/bridge/poll.ts'
import { readTransfer, type TransferServices } from '../../../lib/bridge/status.ts'
import type { TransfersStore } from '../../../lib/bridge/store.ts'
import { isNews, OUTCOMES } from '../../../lib/bridge/timeline.ts'
import type { RecordedTransfer, Transfer } from '../../../lib/bridge/transfer.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import { evmChain } from '../../../lib/chain/registry.ts'
import { logger } from '../../../lib/logger.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts'

type Dependencies = TransferServices & {
  readonly transfers: Pick<TransfersStore, 'listDue' | 'postpone'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** One run takes at most so many transfers: one page of the table, and a write for each. */
const MOST_DUE = 100
/** Calls of one run to all chains together. The calls to destinations' pools leave a whole budget for the first poll. */
const MOST_CALLS_OF_RUN = 12
const MOST_POOLS = MOST_CALLS_OF_RUN - MOST_CALLS
/** The next poll comes after a tenth of a transfer's age, and after an hour at the latest. */
const AGE_SHARE = 0.1
const LONGEST_WAIT_MS = HOUR_MS
/** Three weeks after its start a transfer has ended, or never will. */
const FOLLOWED_MS = 21 * DAY_MS

/**
 * Polls the transfers that started on a chain and have not ended, though nobody asks: of those that are due the ones that
 * have waited longest, until `until` (epoch milliseconds). What the pools say of them all is one call for each of at most
 * 4 destinations; those of which there is more to know are polled one by one, as far as 12 calls go. The one for which
 * they did not suffice is the first in the next run; the rest are due again after all others, in the same order. One that
 * cannot be read stops no other. `ended` are those of which clients are to be told how they have ended, finally or
 * not, before they are polled again.
 */
export async function followTransfers(
  dependencies: Dependencies,
  chainId: number,
  until: number = Number.POSITIVE_INFINITY,
) {
  const { getReader, transfers, now } = dependencies
  const listed = await transfers.listDue(chainId, now(), MOST_DUE)
  const [due, ended] = [
    listed.filter(({ recorded }) => !isNews(recorded)),
    listed.filter(({ recorded }) => isNews(recorded)),
  ]
  const { moved, unasked, pools } = await readMoved(getReader, due, chainId)
  let callsLeft = MOST_CALLS_OF_RUN - pools
  let endedTransfers = 0
  let isSpent = false
  const postponed: { key: RecordedTransfer['key']; lookAt: Date | undefined }[] = []
  for (const { key, recorded } of due) {
    if (unasked.has(recorded)) continue
    const isUneventful = !moved.has(recorded) && !needsPoll(recorded)
    const budget = createBudget(callsLeft)
    isSpent ||= !budget.reaches(1) || now() >= until
    if (isUneventful || isSpent) {
      postponed.push({ key, lookAt: isUneventful ? getNextPoll(recorded, now()) : new Date(now() + postponed.length) })
      continue
    }
    const lookAt = (keep: Transfer) => {
      // Clients are told of what has ended by the next run.
      if (isNews(keep)) return new Date(now())
      return budget.isShort() ? recorded.lookAt : getNextPoll(keep, now())
    }
    try {
      const seen = await readTransfer(dependencies, { key, recorded }, lookAt, budget)
      if (seen && OUTCOMES[seen.outcome].terminal) endedTransfers += 1
    } catch (error) {
      if (!budget.isShort()) {
        logger.warn('transfer not read', { chainId, transaction: recorded.events[0].txHash, reason: String(error) })
        // One that fails in the same way each time must not take the calls of others in each run.
        postponed.push({ key, lookAt: getNextPoll(recorded, now()) })
      }
    }
    callsLeft -= budget.spent()
    isSpent = budget.isShort()
  }
  await Promise.all(postponed.map(({ key, lookAt }) => transfers.postpone(key, lookAt)))
  return { openTransfers: due.length, endedTransfers, ended }
}

/**
 * The due transfers that the destinations' pools call filled, or whose deadline is over there; those of destinations that
 * were not asked, for others have waited longer; and how many pools were asked.
 */
async function readMoved(
  getReader: (chainId: number) => ChainReader,
  due: readonly RecordedTransfer[],
  chainId: number,
): Promise<{ moved: ReadonlySet<Transfer>; unasked: ReadonlySet<Transfer>; pools: number }> {
  const moved = new Set<Transfer>()
  const waiting = due.flatMap(({ recorded }) => (needsPoll(recorded) ? [] : [{ recorded, deposit: recorded.deposit }]))
  const groups = [...Map.groupBy(waiting, ({ deposit }) => deposit.destinationChainId)]
  const asked = groups.slice(0, MOST_POOLS)
  const unasked = new Set(groups.slice(MOST_POOLS).flatMap(([, group]) => group.map(({ recorded }) => recorded)))
  for (const [destination, group] of asked) {
    const hashes = group.map(({ deposit }) => relayHash(deposit))
    try {
      const { block, values } = await readFillStatuses(getReader(destination), hashes)
      for (const [index, { recorded, deposit }] of group.entries()) {
        const isOver = block.timestamp > BigInt(deposit.relayData.fillDeadline)
        if (values[index] === FILLED || isOver) moved.add(recorded)
      }
    } catch (error) {
      logger.warn('transfers not read', { chainId, destination, count: group.length, reason: String(error) })
    }
  }
  return { moved, unasked, pools: asked.length }
}

/** True if there is more to know of a transfer than what the destination's pool says of it. */
function needsPoll({ deposit, events, isUnfilled }: Transfer): boolean {
  const isWaiting = !isUnfilled && !events.some(({ kind }) => kind === 'filled')
  return !isWaiting || !evmChain(deposit.destinationChainId)?.bridge
}

/** When to poll a transfer next, undefined for never. */
export function getNextPoll({ deposit, events: [deposited, ...later] }: Transfer, now: number): Date | undefined {
  const age = now - deposited.at.getTime()
  if (age > FOLLOWED_MS) return undefined
  const wait = Math.min(LONGEST_WAIT_MS, Math.max(0, age * AGE_SHARE))
  // A fill that is known is only waited for to be final.
  const filled = later.find(({ kind }) => kind === 'filled')
  const finalAfter = filled ? (evmChain(deposit.destinationChainId)?.finality.seconds ?? 0) : 0
  return new Date(Math.max(now + wait, (filled?.at.getTime() ?? now) + finalAfter * 1000))
}
