import { coalesced } from '../chain/coalesced.ts'
import { type ChainReader, chainReader } from '../chain/reader.ts'
import { logger } from '../logger.ts'
import { readRecorded } from './status.ts'
import type { TransfersTable } from './table.ts'
import type { TransferKey } from './transfer.ts'

type Dependencies = {
  readonly readerOf: (chainId: number) => ChainReader
  readonly transfers: Pick<TransfersTable, 'record' | 'listOpen'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** One run follows at most so many transfers. */
const AT_MOST = 100
const RUN_EVERY_MS = 60_000

/**
 * Looks after the transfers that started on a chain and are not at their end, though nobody asks: all of them side by
 * side, in as many requests as one of them takes. One that cannot be read now is left for the next time and stops no other.
 */
export async function followTransfers({ readerOf, transfers, now }: Dependencies, chainId: number) {
  // In an order of their own: the index has none for the transfers of one transaction.
  const open = (await transfers.listOpen(chainId)).toSorted((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1))
  const followed = turnOf(open, Math.floor(now() / RUN_EVERY_MS))
  const shared = { readerOf: sharedReaders(readerOf), transfers }
  const looks = await Promise.allSettled(followed.map(({ key, recorded }) => readRecorded(shared, key, recorded)))
  const failures = looks.filter((look) => look.status === 'rejected')
  if (failures[0]) {
    logger.warn('transfers not read', { chainId, count: failures.length, reason: String(failures[0].reason) })
  }
  const ended = looks.filter((look) => look.status === 'fulfilled' && look.value.status.terminal)
  return { openTransfers: open.length, endedTransfers: ended.length }
}

/** The part of a list that is this run's; over several runs every one has its turn. */
function turnOf<T>(list: readonly T[], run: number): readonly T[] {
  const parts = Math.ceil(list.length / AT_MOST)
  const part = parts > 0 ? run % parts : 0
  return list.slice(part * AT_MOST, (part + 1) * AT_MOST)
}

function nameOf({ key: { transactionHash, index } }: { readonly key: TransferKey }): string {
  return `${transactionHash}#${index}`
}

/** Readers that send what is asked of a chain at the same time as one request. */
function sharedReaders(readerOf: (chainId: number) => ChainReader): (chainId: number) => ChainReader {
  const readers = new Map<number, ChainReader>()
  return (chainId) => {
    const { chain, request } = readerOf(chainId)
    const reader = readers.get(chainId) ?? chainReader(chain, coalesced(request))
    readers.set(chainId, reader)
    return reader
  }
}
