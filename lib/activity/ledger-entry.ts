import * as z from 'zod'
import type { DepositLocation, EntryLocation, LedgerEntry } from '../protocols/ledger-entry.ts'

/** Status of a deposit or withdrawal. */
export const HistoryStatus = z.enum(['pending', 'claimable', 'completed', 'cancelled'])
export type HistoryStatus = z.output<typeof HistoryStatus>

/**
 * Returns true if a ledger entry (deposit, withdrawal, transfer, request) moves nothing, so that callers leave it out.
 * The entry's amount is then 0, or the moved shares are worth less than one unit of the asset. Anyone can make a
 * request of 0 for another account. A cancellation without an amount moves something.
 */
export function movesNothing(entry: LedgerEntry): boolean {
  if (entry.kind === 'cancel') return entry.assets === 0n
  if (entry.kind === 'receive' || entry.kind === 'send') return entry.shares === 0n || entry.assets === 0n
  return !('assets' in entry && entry.assets > 0n) && !('shares' in entry && entry.shares)
}

/**
 * Builds the key of a ledger entry, unique in its vault. Pagination cursors and webhook events use the key. Keys sort
 * as text in the order of the events.
 */
export function buildSortKey(entry: LedgerEntry): string {
  return `${buildLocationKey(entry)}#${entry.kind}`
}

/** Builds the common start of the keys of all ledger entries that one event causes. */
export function buildLocationKey({
  timestamp,
  chainId,
  blockNumber,
  logIndex,
}: Pick<EntryLocation, 'timestamp' | 'chainId' | 'blockNumber' | 'logIndex'>): string {
  const seconds = Math.floor(timestamp.getTime() / 1000)
  return [digits(seconds, 12), digits(chainId, 12), digits(blockNumber, 12), digits(logIndex, 6)].join('#')
}

/** Builds the id of a deposit or withdrawal: `<chainId>-<transactionHash>-<logIndex>` of its event. */
export function buildEntryId({ chainId, transactionHash, logIndex }: DepositLocation): string {
  return `${chainId}-${transactionHash}-${logIndex}`
}

function digits(number: number, length: number): string {
  return number.toString().padStart(length, '0')
}
