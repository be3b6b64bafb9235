import { hashRelay } from '../../../lib/bridge/events.ts'
import { createBudget, FILLED, MAX_CALLS, readFillStatuses } from '../../../lib/bridge/poll.ts'
import { readTransfer, type TransferServices } from '../../../lib/bridge/status.ts'
import type { TransfersStore } from '../../../lib/bridge/store.ts'
import { isUnreported, STATUS_BY_OUTCOME } from '../../../lib/bridge/timeline.ts'
import type { RecordedTransfer, Transfer } from '../../../lib/bridge/transfer.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import { evmChain } from '../../../lib/chain/registry.ts'
import { logger } from '../../../lib/core/logger.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/core/time.ts'

/** Maximum number of transfers per run: one page of the table, and a write for each. */
const MAX_DUE = 100
/**
 * Maximum number of calls per run, to all chains. Calls to the destination chains' bridge contracts leave enough of them to poll at least
 * one transfer completely.
 */
const MAX_CALLS_OF_RUN = 12
const MAX_POOLS = MAX_CALLS_OF_RUN - MAX_CALLS
/** Pause before the next poll of a transfer: a tenth of its age, at most an hour. */
const AGE_SHARE = 0.1
const MAX_WAIT_MS = HOUR_MS
/** Age at which a transfer is no longer polled: after three weeks it has ended or never will. */
const FOLLOWED_MS = 21 * DAY_MS

/**
 * Polls due transfers of a source chain, the longest waiting first, until `until` (epoch milliseconds). One call to each of at most 4
 * destination chains' bridge contracts reads which transfers were filled. Transfers with more to read are polled one by one, with at most
 * 12 calls in all. A transfer that ran out of calls goes first next run; the others go to the back of the queue, in the same order. An
 * unreadable one stops no other. `ended` lists transfers whose outcome, final or not, must be published before the next poll.
 */
export async function followTransfers(
  dependencies: TransferServices & {
    readonly transfers: Pick<TransfersStore, 'listDue' | 'postpone'>
    /** Epoch milliseconds. */
    readonly now: () => number
  },
  chainId: number,
  until: number = Number.POSITIVE_INFINITY,
) {
  const { getReader, transfers, now } = dependencies
  const listed = await transfers.listDue(chainId, now(), MAX_DUE)
  const [due, ended] = [
    listed.filter(({ recorded }) => !isUnreported(recorded)),
    listed.filter(({ recorded }) => isUnreported(recorded)),
  ]
  const { moved, unasked, pools } = await readFills(getReader, due, chainId)
  let callsLeft = MAX_CALLS_OF_RUN - pools
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
      // An unpublished outcome makes the transfer due immediately, so the next run publishes it.
      if (isUnreported(keep)) return new Date(now())
      return budget.isShort() ? recorded.lookAt : getNextPoll(keep, now())
    }
    try {
      const seen = await readTransfer(dependencies, { key, recorded }, lookAt, budget)
      if (seen && STATUS_BY_OUTCOME[seen.outcome].terminal) endedTransfers += 1
    } catch (error) {
      if (!budget.isShort()) {
        logger.warn('transfer not read', { chainId, transaction: recorded.events[0].txHash, reason: String(error) })
        // A transfer that always fails must not use up the calls for others in each run.
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
 * Reads the bridge contracts on the destination chains. `moved`: transfers filled or past their deadline there. `unasked`: transfers to
 * chains left out, because others have waited longer. `pools`: number of contracts read.
 */
async function readFills(
  getReader: (chainId: number) => ChainReader,
  due: readonly RecordedTransfer[],
  chainId: number,
): Promise<{ moved: ReadonlySet<Transfer>; unasked: ReadonlySet<Transfer>; pools: number }> {
  const moved = new Set<Transfer>()
  const waiting = due.flatMap(({ recorded }) => (needsPoll(recorded) ? [] : [{ recorded, deposit: recorded.deposit }]))
  const groups = [...Map.groupBy(waiting, ({ deposit }) => deposit.destinationChainId)]
  const dueGroups = groups.slice(0, MAX_POOLS)
  const unasked = new Set(groups.slice(MAX_POOLS).flatMap(([, group]) => group.map(({ recorded }) => recorded)))
  for (const [destination, group] of dueGroups) {
    const hashes = group.map(({ deposit }) => hashRelay(deposit))
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
  return { moved, unasked, pools: dueGroups.length }
}

/** Returns true if a transfer needs more data than its status in the destination chain's bridge contract. */
function needsPoll({ deposit, events, isUnfilled }: Transfer): boolean {
  const isWaiting = !isUnfilled && !events.some(({ kind }) => kind === 'filled')
  return !isWaiting || !evmChain(deposit.destinationChainId)?.bridge
}

/** Returns the time of a transfer's next poll; undefined for never. */
export function getNextPoll({ deposit, events: [deposited, ...later] }: Transfer, now: number): Date | undefined {
  const age = now - deposited.at.getTime()
  if (age > FOLLOWED_MS) return undefined
  const wait = Math.min(MAX_WAIT_MS, Math.max(0, age * AGE_SHARE))
  // A known fill only has to become final, so the next poll waits for finality.
  const filled = later.find(({ kind }) => kind === 'filled')
  const finalAfter = filled ? (evmChain(deposit.destinationChainId)?.finality.seconds ?? 0) : 0
  return new Date(Math.max(now + wait, (filled?.at.getTime() ?? now) + finalAfter * 1000))
}
