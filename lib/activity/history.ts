import { MAX_UINT256 } from '../core/codecs.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import type { CancelledRequest, LiveAccount } from '../protocols/protocol.ts'
import type { HistoryStatus } from './ledger-entry.ts'
import { allotToNewest, divideProRata } from './parts.ts'
import { buildRequestQueue, divideOpenAmounts, type QueueEvent } from './queue.ts'

type DepositEntry = Extract<LedgerEntry, { kind: 'deposit' }>

/** A deposit, and its part of the account's current amounts in the vault, in the smallest units of asset and share. */
export type Deposit = {
  readonly entry: DepositEntry
  readonly status: HistoryStatus
  readonly pendingDeposit: bigint
  readonly claimableShares: bigint
  readonly currentShares: bigint
}

/**
 * Lists an account's deposits in one vault, in order, and divides the account's current amounts between them. The
 * oldest requests count as claimed, later ones as claimable, the newest as pending. Cancellations reduce the newest
 * requests. Shares leave first in, first out. The deposits' pending and claimable amounts add up to the account's.
 */
export function buildDeposits(entries: readonly LedgerEntry[], live: LiveAccount): Deposit[] {
  const queue = buildDepositQueue(entries, live.cancelledDeposits)
  const requests = queue.map(({ entry }) => entry)
  const { pendingParts, claimableParts } = divideOpenAmounts(queue, {
    pending: live.pendingAssets,
    claimable: live.claimableAssets,
  })
  const pending = byEntry(requests, divideProRata(live.pendingAssets, pendingParts))
  const claimable = byEntry(requests, claimableParts)
  const claimableShares = byEntry(requests, divideProRata(live.claimableShares, claimableParts))

  // Shares received by transfer also leave first in, first out. They are therefore sorted among the deposits by arrival.
  const deposits = entries.filter((entry) => entry.kind === 'deposit')
  const sources = entries.filter((entry) => entry.kind === 'deposit' || entry.kind === 'receive')
  const inQueue = new Map(queue.map((request) => [request.entry, request]))
  const gained = sources.map((entry) =>
    entry.kind === 'receive' ? entry.shares : (entry.shares ?? inQueue.get(entry)?.given ?? 0n),
  )
  const shares = byEntry(sources, allotToNewest(gained, live.shares))

  const statusOf = (entry: DepositEntry): HistoryStatus => {
    if (inQueue.get(entry)?.cancelled === entry.assets) return 'cancelled'
    if (pending.get(entry)) return 'pending'
    return claimable.get(entry) ? 'claimable' : 'completed'
  }
  return deposits.map((entry) => ({
    entry,
    status: statusOf(entry),
    pendingDeposit: pending.get(entry) ?? 0n,
    claimableShares: claimableShares.get(entry) ?? 0n,
    currentShares: shares.get(entry) ?? 0n,
  }))
}

/** Returns the cancelled assets of each deposit request, by ledger entry. */
export function computeCancelledAssets(entries: readonly LedgerEntry[]): ReadonlyMap<LedgerEntry, bigint> {
  return new Map(buildDepositQueue(entries).map(({ entry, cancelled }) => [entry, cancelled]))
}

/**
 * Builds the queue of an account's deposit requests from its deposits, claims and cancellations. `granted` are the
 * requests whose cancellation the vault's contract has granted. Requests are in assets; claims pay shares.
 */
export function buildDepositQueue(entries: readonly LedgerEntry[], granted: readonly CancelledRequest[] = []) {
  return buildRequestQueue([
    ...entries.flatMap((entry): QueueEvent<DepositEntry>[] => {
      switch (entry.kind) {
        case 'deposit':
          return entry.shares === null ? [{ request: entry, amount: entry.assets }] : []
        case 'cancel':
          return [{ requestId: entry.requestId, cancelled: entry.assets ?? MAX_UINT256 }]
        case 'claim':
          return [{ claimed: entry.assets, given: entry.shares, transactionHash: entry.transactionHash }]
        default:
          return []
      }
    }),
    ...granted.map(({ requestId, amount }) => ({ requestId, cancelled: amount })),
  ])
}

function byEntry(entries: readonly LedgerEntry[], amounts: readonly bigint[]): ReadonlyMap<LedgerEntry, bigint> {
  return new Map(entries.map((entry, index) => [entry, amounts[index] ?? 0n]))
}
