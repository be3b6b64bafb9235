import { hashRelay } from '../../../lib/bridge/events.ts'
import { createBudget, FILLED_STATUS, MAX_CALLS, readFillStatuses } from '../../../lib/bridge/poll.ts'
import { readTransfer, type TransferServices } from '../../../lib/bridge/status.ts'
import type { TransfersStore } from '../../../lib/bridge/store.ts'
import { isUnreported, STATUS_BY_OUTCOME } from '../../../lib/bridge/timeline.ts'
import type { RecordedTransfer, Transfer } from '../../../lib/bridge/transfer.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import { evmChain } from '../../../lib/chain/registry.ts'
import { logger } from '../../../lib/core/logger.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/core/time.ts'

/** Maximum number of transfers per run. The run reads them as one page of the table and writes each of them once. */
const MAX_DUE = 100
/** Maximum number of RPC calls per run for transfers that are polled one by one. They suffice for five complete polls. */
const MAX_CALLS_OF_RUN = 5 * MAX_CALLS
/** Pause before the next poll of a transfer, as a fraction of the transfer's age. MAX_WAIT_MS limits the pause. */
const AGE_SHARE = 0.1
const MAX_WAIT_MS = HOUR_MS
/** Age at which transfers are no longer polled. A transfer that is unfinished after three weeks stays unfinished. */
const FOLLOWED_MS = 21 * DAY_MS

/**
 * Polls the bridge transfers of a source chain whose next poll is due. The transfer that has been due longest comes
 * first. No poll starts after `until` (epoch milliseconds). First it makes one call to the bridge contract of each
 * destination chain. The call shows which transfers have been filled or have passed their deadline. Then it polls the
 * transfers that need more data one by one, with at most 40 calls. Later runs poll the rest. A transfer that cannot be
 * read does not stop the others. `ended` lists transfers with an outcome that must still be published.
 */
export async function followTransfers(
  dependencies: TransferServices & {
    readonly transfers: Pick<TransfersStore, 'listDue' | 'postpone'>
    /** Returns the current time in epoch milliseconds. */
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
  const { filled, expired } = await readFills(getReader, due, chainId)
  let callsLeft = MAX_CALLS_OF_RUN
  let endedTransfers = 0
  let isSpent = false
  const postponed: { key: RecordedTransfer['key']; lookAt: Date | undefined }[] = []
  // The search for a refund takes many calls. Expired transfers are last in every second run and first in the others, so
  // neither they nor the others wait for long.
  const isExpired = ({ recorded }: RecordedTransfer) => expired.has(recorded) || recorded.isUnfilled === true
  const areLast = Math.floor(now() / MINUTE_MS) % 2 === 0
  const first = due.filter((one) => isExpired(one) !== areLast)
  for (const { key, recorded } of [...first, ...due.filter((one) => !first.includes(one))]) {
    const isUneventful = !filled.has(recorded) && !expired.has(recorded) && !needsPoll(recorded)
    const budget = createBudget(callsLeft)
    isSpent ||= !budget.reaches(1) || now() >= until
    if (isUneventful || isSpent) {
      postponed.push({ key, lookAt: isUneventful ? getNextPoll(recorded, now()) : new Date(now() + postponed.length) })
      continue
    }
    const lookAt = (keep: Transfer) => {
      // A transfer with an unpublished outcome is due immediately, so the next run publishes the outcome.
      if (isUnreported(keep)) return new Date(now())
      return budget.isShort() ? recorded.lookAt : getNextPoll(keep, now())
    }
    try {
      const seen = await readTransfer(dependencies, { key, recorded }, lookAt, budget)
      if (seen && STATUS_BY_OUTCOME[seen.outcome].terminal) endedTransfers += 1
    } catch (error) {
      if (!budget.isShort()) {
        logger.warn('transfer not read', { chainId, transaction: recorded.events[0].txHash, reason: String(error) })
        // A transfer that cannot be read is postponed too. Otherwise it would use up the calls of the other transfers
        // in each run.
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
 * Reads the fill status of waiting transfers from the bridge contracts of their destination chains. `expired` has
 * transfers that were not filled before their deadline.
 */
async function readFills(
  getReader: (chainId: number) => ChainReader,
  due: readonly RecordedTransfer[],
  chainId: number,
): Promise<{ readonly filled: ReadonlySet<Transfer>; readonly expired: ReadonlySet<Transfer> }> {
  const filled = new Set<Transfer>()
  const expired = new Set<Transfer>()
  const waiting = due.flatMap(({ recorded }) => (needsPoll(recorded) ? [] : [{ recorded, deposit: recorded.deposit }]))
  for (const [destination, group] of Map.groupBy(waiting, ({ deposit }) => deposit.destinationChainId)) {
    const hashes = group.map(({ deposit }) => hashRelay(deposit))
    try {
      const { block, values } = await readFillStatuses(getReader(destination), hashes)
      for (const [index, { recorded, deposit }] of group.entries()) {
        if (values[index] === FILLED_STATUS) filled.add(recorded)
        else if (block.timestamp > BigInt(deposit.relayData.fillDeadline)) expired.add(recorded)
      }
    } catch (error) {
      logger.warn('transfers not read', { chainId, destination, count: group.length, reason: String(error) })
    }
  }
  return { filled, expired }
}

/**
 * Returns true if this transfer must be polled on its own. A transfer that only waits for its fill need not be. One
 * call to the bridge contract of a destination chain reads the fills of all such transfers.
 */
function needsPoll({ deposit, events, isUnfilled }: Transfer): boolean {
  const isWaiting = !isUnfilled && !events.some(({ kind }) => kind === 'filled')
  return !isWaiting || !evmChain(deposit.destinationChainId)?.bridge
}

/** Returns the time of a transfer's next poll. Returns undefined after three weeks, when polling ends. */
export function getNextPoll({ deposit, events: [deposited, ...later] }: Transfer, now: number): Date | undefined {
  const age = now - deposited.at.getTime()
  if (age > FOLLOWED_MS) return undefined
  const wait = Math.min(MAX_WAIT_MS, Math.max(0, age * AGE_SHARE))
  // A filled transfer no longer changes, but the block of the fill may not be final yet. So the next poll waits until
  // it is final.
  const filled = later.find(({ kind }) => kind === 'filled')
  const finalAfter = filled ? (evmChain(deposit.destinationChainId)?.finality.seconds ?? 0) : 0
  return new Date(Math.max(now + wait, (filled?.at.getTime() ?? now) + finalAfter * 1000))
}
