import { type ChainReader, chainReader, query } from '../chain/reader.ts'
import { evmChain } from '../chain/registry.ts'
import type { Rpc } from '../chain/rpc.ts'
import { view } from '../chain/view.ts'
import type { DepositSources } from '../deposits/source.ts'
import { logger } from '../logger.ts'
import { poolAbi } from './abi.ts'
import { relayHash } from './events.ts'
import { bridgeOf, FILLED } from './look.ts'
import { readRecorded } from './status.ts'
import type { TransfersTable } from './table.ts'
import type { Transfer, TransferKey } from './transfer.ts'

type Dependencies = {
  readonly readerOf: (chainId: number) => ChainReader
  readonly transfers: Pick<TransfersTable, 'record' | 'listDue' | 'postpone'>
  readonly sources: Pick<DepositSources, 'record'>
  /** Epoch milliseconds. */
  readonly now: () => number
}
type Followed = { readonly key: TransferKey; readonly recorded: Transfer }

/** One run has at most so many transfers in view: one page of the table, and a write for each. */
const MOST_DUE = 100
/** No transfer is looked into once a run has asked the chains for so many calls; one takes at most 8. */
const MOST_CALLS = 12
/** The next look comes after a tenth of a transfer's age, and after an hour at the latest. */
const AGE_SHARE = 0.1
const LONGEST_WAIT_MS = 3_600_000
/** Three weeks after its start a transfer has ended, or never will. */
const FOLLOWED_MS = 1_814_400_000

/**
 * Looks after the transfers that started on a chain and are not at their end, though nobody asks: of those whose time
 * has come the ones that have waited longest, until `until` (epoch milliseconds). What the pools say of them all is one
 * call for each destination; into those of which there is more to know it looks one by one, as far as some 12 calls go,
 * and the rest have their turn again after all others. One that cannot be read now stops no other.
 */
export async function followTransfers(
  { readerOf, transfers, sources, now }: Dependencies,
  chainId: number,
  until: number = Number.POSITIVE_INFINITY,
) {
  const { countingReaderOf, calls } = countCalls(readerOf)
  const due = await transfers.listDue(chainId, now(), MOST_DUE)
  const moved = await readMoved(countingReaderOf, due, chainId)
  let endedTransfers = 0
  const postponed: { key: TransferKey; lookAt: Date | undefined }[] = []
  for (const { key, recorded } of due) {
    const isUneventful = !moved.has(recorded) && !isToLookInto(recorded)
    if (isUneventful || calls() >= MOST_CALLS || now() >= until) {
      postponed.push({ key, lookAt: isUneventful ? nextLookAt(recorded, now()) : new Date(now()) })
      continue
    }
    try {
      const shared = { readerOf: countingReaderOf, transfers, sources }
      const { status } = await readRecorded(shared, key, recorded, (keep) => nextLookAt(keep, now()))
      if (status.terminal) endedTransfers += 1
    } catch (error) {
      logger.warn('transfer not read', { chainId, transaction: key.transactionHash, reason: String(error) })
    }
  }
  await transfers.postpone(postponed)
  return { openTransfers: due.length, endedTransfers }
}

/** Those that the destinations' pools call filled, or whose time to be filled is over there. */
async function readMoved(
  readerOf: (chainId: number) => ChainReader,
  due: readonly Followed[],
  chainId: number,
): Promise<ReadonlySet<Transfer>> {
  const moved = new Set<Transfer>()
  const waiting = due.flatMap(({ recorded }) =>
    recorded.source && isWaiting(recorded) ? [{ recorded, deposit: recorded.source.deposit }] : [],
  )
  for (const [destination, group] of Map.groupBy(waiting, ({ deposit }) => deposit.destinationChainId)) {
    if (!evmChain(destination)?.bridge) continue
    const reader = readerOf(destination)
    const { pool: address } = bridgeOf(reader)
    const queries = group.map(({ deposit }) =>
      query(
        { address, slots: {}, views: { status: view(address, poolAbi, 'fillStatuses', [relayHash(deposit)]) } },
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
  return moved
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
