import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import type { CancelledRequest } from '../protocols/protocol.ts'
import type { RequestKind } from '../protocols/request-kind.ts'
import { buildDepositQueue } from './history.ts'
import type { QueuedRequest } from './queue.ts'
import { buildRedemptionQueue } from './withdrawals.ts'

/** Ledger entry that begins a request to deposit or redeem. */
export type RequestEntry = Extract<LedgerEntry, { kind: 'deposit' | 'redeem' }>

/**
 * Builds the queue of an account's requests of one kind, oldest first. `entries` are the account's deposits,
 * withdrawals, claims and cancellations. `granted` are the requests whose cancellation the vault's contract has
 * granted.
 */
export function buildQueueByKind(
  kind: RequestKind,
  entries: readonly LedgerEntry[],
  granted: readonly CancelledRequest[] = [],
): readonly QueuedRequest<RequestEntry>[] {
  return kind === 'deposit' ? buildDepositQueue(entries, granted) : buildRedemptionQueue(entries, granted)
}
