import type { ChainReader } from '../chain/reader.ts'
import { logger } from '../logger.ts'
import { readTransfer } from './status.ts'
import type { TransfersTable } from './table.ts'

type Dependencies = {
  readonly readerOf: (chainId: number) => ChainReader
  readonly transfers: Pick<TransfersTable, 'get' | 'record' | 'listOpen'>
}

/** One run follows at most so many transfers, and so many at a time. */
const AT_MOST = 100
const AT_A_TIME = 10

/**
 * Looks after the transfers that started on a chain and are not at their end, though nobody asks. One that cannot be
 * read now is left for the next time and stops no other.
 */
export async function followTransfers({ readerOf, transfers }: Dependencies, chainId: number) {
  const open = (await transfers.listOpen(chainId)).slice(0, AT_MOST)
  let ended = 0
  for (let start = 0; start < open.length; start += AT_A_TIME) {
    const looks = open.slice(start, start + AT_A_TIME).map((key) => readTransfer({ readerOf, transfers }, key))
    for (const look of await Promise.allSettled(looks)) {
      if (look.status === 'rejected') logger.warn('transfer not read', { chainId, reason: String(look.reason) })
      else if (look.value.status.terminal) ended += 1
    }
  }
  return { open: open.length, ended }
}
