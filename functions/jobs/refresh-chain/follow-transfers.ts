import type { DepositSources } from '../../../lib/activity/source.ts'
import { poolAbi } from '../../../lib/bridge/abi.ts'
import { relayHash } from '../../../lib/bridge/events.ts'
import { bridgeOf, createAllowance, FILLED, MOST_CALLS } from '../../../lib/bridge/look.ts'
import { readRecorded } from '../../../lib/bridge/status.ts'
import type { TransfersStore } from '../../../lib/bridge/store.ts'
import type { Transfer, TransferKey } from '../../../lib/bridge/transfer.ts'
import { call } from '../../../lib/chain/call.ts'
import { type ChainReader, chainReader, readPlan } from '../../../lib/chain/reader.ts'
import { evmChain } from '../../../lib/chain/registry.ts'
import type { Rpc } from '../../../lib/chain/rpc.ts'
import { logger } from '../../../lib/logger.ts'

type Dependencies = {
  readonly readerOf: (chainId: number) => ChainReader
  readonly transfers: Pick<TransfersStore, 'record' | 'listDue' | 'postpone'>
  readonly sources: Pick<DepositSources, 'record'>
  /** Epoch milliseconds. */
  readonly now: () => number
}
type Followed = { readonly key: TransferKey; readonly recorded: Transfer }

/** One run has at most so many transfers in view: one page of the table, and a write for each. */
const MOST_DUE = 100
/** What one run may ask of all chains together, and of how many destinations' pools, so that the first look has a whole allowance. */
const MOST_CALLS_OF_RUN = 12
const MOST_POOLS = MOST_CALLS_OF_RUN - MOST_CALLS
/** The next look comes after a tenth of a transfer's age, and after an hour at the latest. */
const AGE_SHARE = 0.1
const LONGEST_WAIT_MS = 3_600_000
/** Three weeks after its start a transfer has ended, or never will. */
const FOLLOWED_MS = 1_814_400_000

/**
 * Looks after the transfers that started on a chain and are not at their end, though nobody asks: of those whose time
 * has come the ones that have waited longest, until `until` (epoch milliseconds). What the pools say of them all is one
 * call for each of at most 4 destinations; into those of which there is more to know it looks one by one, as far as 12
 * calls go. The one for which they did not suffice is the first the next time; the rest have their turn again after all
 * others, in the same order. One that cannot be read now stops no other.
 */
export async function followTransfers(
  { readerOf, transfers, sources, now }: Dependencies,
  chainId: number,
  until: number = Number.POSITIVE_INFINITY,
) {
  const { countingReaderOf, calls } = countCalls(readerOf)
  const due = await transfers.listDue(chainId, now(), MOST_DUE)
  const { moved, unasked } = await readMoved(countingReaderOf, due, chainId)
  let endedTransfers = 0
  let isSpent = false
  const postponed: { key: TransferKey; lookAt: Date | undefined }[] = []
  for (const { key, recorded } of due) {
    if (unasked.has(recorded)) continue
    const isUneventful = !moved.has(recorded) && !isToLookInto(recorded)
    const allowance = createAllowance(MOST_CALLS_OF_RUN - calls())
    isSpent ||= !allowance.reaches(1) || now() >= until
    if (isUneventful || isSpent) {
      postponed.push({ key, lookAt: isUneventful ? nextLookAt(recorded, now()) : new Date(now() + postponed.length) })
      continue
    }
    try {
      const shared = { readerOf: countingReaderOf, transfers, sources }
      const lookAt = (keep: Transfer) => (allowance.isShort() ? recorded.lookAt : nextLookAt(keep, now()))
      const { status } = await readRecorded(shared, key, recorded, lookAt, allowance)
      if (status.terminal) endedTransfers += 1
    } catch (error) {
      if (!allowance.isShort()) {
        logger.warn('transfer not read', { chainId, transaction: key.transactionHash, reason: String(error) })
      }
    }
    isSpent = allowance.isShort()
  }
  await transfers.postpone(postponed)
  return { openTransfers: due.length, endedTransfers }
}

/**
 * Those that the destinations' pools call filled, or whose time to be filled is over there; and those that wait for a
 * destination whose pool has its turn the next time, for others have waited longer.
 */
async function readMoved(
  readerOf: (chainId: number) => ChainReader,
  due: readonly Followed[],
  chainId: number,
): Promise<{ moved: ReadonlySet<Transfer>; unasked: ReadonlySet<Transfer> }> {
  const moved = new Set<Transfer>()
  const waiting = due.flatMap(({ recorded }) =>
    recorded.source && !isToLookInto(recorded) ? [{ recorded, deposit: recorded.source.deposit }] : [],
  )
  const groups = [...Map.groupBy(waiting, ({ deposit }) => deposit.destinationChainId)]
  const unasked = new Set(groups.slice(MOST_POOLS).flatMap(([, group]) => group.map(({ recorded }) => recorded)))
  for (const [destination, group] of groups.slice(0, MOST_POOLS)) {
    const reader = readerOf(destination)
    const { pool: address } = bridgeOf(reader)
    const queries = group.map(({ deposit }) =>
      readPlan(
        { address, slots: {}, calls: { status: call(address, poolAbi, 'fillStatuses', [relayHash(deposit)]) } },
        ({ answers }) => answers.status === FILLED,
      ),
    )
    try {
      const { block, values } = await reader.read(queries)
      for (const [index, { recorded, deposit }] of group.entries()) {
        const isOver = block.timestamp > BigInt(deposit.relayData.fillDeadline)
        if (values[index] === true || isOver) moved.add(recorded)
      }
    } catch (error) {
      logger.warn('transfers not read', { chainId, destination, count: group.length, reason: String(error) })
    }
  }
  return { moved, unasked }
}

/** Whether a transfer waits for its fill, as far as is known. */
function isWaiting({ fillTransaction, isUnfilled }: Transfer): boolean {
  return fillTransaction === undefined && isUnfilled !== true
}

/** Whether there is more to know of a transfer than what the destination's pool says of it. */
function isToLookInto(recorded: Transfer): boolean {
  const { source } = recorded
  return !source || !isWaiting(recorded) || !evmChain(source.deposit.destinationChainId)?.bridge
}

/** When to look at a transfer again, undefined for never. */
function nextLookAt({ source, fillTransaction }: Transfer, now: number): Date | undefined {
  const age = now - (source?.initiated.getTime() ?? now)
  if (age > FOLLOWED_MS) return undefined
  const wait = Math.min(LONGEST_WAIT_MS, Math.max(0, age * AGE_SHARE))
  // A fill that is known is only waited for to be final.
  const finalAfter = fillTransaction ? (evmChain(source?.deposit.destinationChainId ?? 0)?.finality.seconds ?? 0) : 0
  return new Date(now + Math.max(wait, finalAfter * 1000))
}

/** Readers that count the calls that are asked of all chains together. */
function countCalls(readerOf: (chainId: number) => ChainReader) {
  let calls = 0
  const counting =
    (rpc: Rpc): Rpc =>
    (requests) => {
      calls += requests.length
      return rpc(requests)
    }
  const countingReader = ({ chain, request }: ChainReader) => chainReader(chain, counting(request))
  return {
    calls: () => calls,
    countingReaderOf(chainId: number): ChainReader {
      const original = readerOf(chainId)
      return { ...countingReader(original), witness: original.witness && countingReader(original.witness) }
    },
  }
}
