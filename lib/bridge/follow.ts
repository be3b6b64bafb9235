import { coalesced } from '../chain/coalesced.ts'
import { type ChainReader, chainReader } from '../chain/reader.ts'
import { logger } from '../logger.ts'
import { readRecorded } from './status.ts'
import type { TransfersTable } from './table.ts'
import type { Transfer } from './transfer.ts'

type Dependencies = {
  readonly readerOf: (chainId: number) => ChainReader
  readonly transfers: Pick<TransfersTable, 'record' | 'listDue'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** One run looks at most at so many transfers: one page of the table, and a write for each. */
const MOST_LOOKS = 50
/** The looks that are made side by side; what they ask of a chain at the same time is one request. */
const LOOKS_TOGETHER = 25
/** The next look comes after a tenth of a transfer's age, and after an hour at the latest. */
const AGE_SHARE = 0.1
const LONGEST_WAIT_MS = 3_600_000
/** Three weeks after its start a transfer has ended, or never will. */
const FOLLOWED_MS = 1_814_400_000

/**
 * Looks after the transfers that started on a chain and are not at their end, though nobody asks: of those whose time
 * has come the ones that have waited longest, until `until` (epoch milliseconds). One that cannot be read now is left
 * for another time and stops no other.
 */
export async function followTransfers(
  { readerOf, transfers, now }: Dependencies,
  chainId: number,
  until: number = Number.POSITIVE_INFINITY,
) {
  const due = await transfers.listDue(chainId, now(), MOST_LOOKS)
  const shared = { readerOf: sharedReaders(readerOf), transfers }
  let openTransfers = 0
  let endedTransfers = 0
  while (openTransfers < due.length && now() < until) {
    const together = due.slice(openTransfers, openTransfers + LOOKS_TOGETHER)
    openTransfers += together.length
    const looks = await Promise.allSettled(
      together.map(({ key, recorded }) => readRecorded(shared, key, recorded, (keep) => nextLookAt(keep, now()))),
    )
    const failures = looks.filter((look) => look.status === 'rejected')
    if (failures[0]) {
      logger.warn('transfers not read', { chainId, count: failures.length, reason: String(failures[0].reason) })
    }
    endedTransfers += looks.filter((look) => look.status === 'fulfilled' && look.value.status.terminal).length
  }
  return { openTransfers, endedTransfers }
}

/** When to look at a transfer again, undefined for never. */
function nextLookAt({ source }: Transfer, now: number): Date | undefined {
  const age = now - (source?.initiated.getTime() ?? now)
  if (age > FOLLOWED_MS) return undefined
  return new Date(now + Math.min(LONGEST_WAIT_MS, Math.max(0, age * AGE_SHARE)))
}

/** Readers that send what is asked of a chain at the same time as one request. */
function sharedReaders(readerOf: (chainId: number) => ChainReader): (chainId: number) => ChainReader {
  const readers = new Map<number, ChainReader>()
  const shared = ({ chain, request }: ChainReader) => chainReader(chain, coalesced(request))
  return (chainId) => {
    const original = readerOf(chainId)
    const reader = readers.get(chainId) ?? {
      ...shared(original),
      witness: original.witness && shared(original.witness),
    }
    readers.set(chainId, reader)
    return reader
  }
}
