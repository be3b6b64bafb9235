import type { Hash } from 'viem'
import { computeShares, type FixedRequest, isFixedRequest, matchPayments } from '../protocols/fixed-requests.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import type { CancelledRequest, LiveAccount } from '../protocols/protocol.ts'
import type { HistoryStatus } from './ledger-entry.ts'
import { divideProRata } from './parts.ts'
import { buildRequestQueue, divideOpenAmounts, type QueueEvent } from './queue.ts'

type RequestEntry = Extract<LedgerEntry, { kind: 'redeem' }>
type PaymentEntry = Extract<LedgerEntry, { kind: 'withdraw' }>

/**
 * A withdrawal, by request or instant, with its pending, claimable and paid amounts, in the smallest units of asset and
 * share.
 */
export type Withdrawal = {
  readonly entry: RequestEntry | PaymentEntry
  readonly status: HistoryStatus
  /** Assets that are paid or claimable, or were fixed at the request; null while some of the shares wait for a settlement. */
  readonly assets: bigint | null
  readonly pendingShares: bigint
  readonly claimableShares: bigint
  readonly claimableAssets: bigint
  readonly paidShares: bigint
  readonly paidAssets: bigint
  readonly cancelledShares: bigint
  readonly claimTransactionHash: Hash | null
}

/**
 * Lists an account's withdrawals in one vault, in order, and divides the account's redemption amounts between them. The
 * oldest requests count as paid, later ones as claimable, the newest as pending. Cancellations reduce the newest
 * requests. `status` is the least advanced state of a request's amounts. Claimable assets are divided pro rata, and add
 * up to the account's total.
 */
export function buildWithdrawals(entries: readonly LedgerEntry[], live: LiveAccount): Withdrawal[] {
  const queue = buildRedemptionQueue(entries, live.cancelledRedemptions)
  const { cooldown } = live
  const { pendingParts, claimableParts } = divideOpenAmounts(queue, {
    pending: cooldown?.pendingAssets ?? live.pendingRedeemShares,
    claimable: cooldown ? live.claimableRedeemAssets : live.claimableRedeemShares,
  })
  const worth = divideProRata(live.claimableRedeemAssets, claimableParts)
  const requests = new Map(
    queue.map(({ entry, claimed, given, cancelled, claimTransactionHash }, index): [LedgerEntry, Withdrawal] => {
      if (isFixedRequest(entry)) {
        const open = { pending: pendingParts[index] ?? 0n, claimable: claimableParts[index] ?? 0n }
        return [entry, fixedWithdrawal(entry, open, claimTransactionHash)]
      }
      const parts = {
        pendingShares: pendingParts[index] ?? 0n,
        claimableShares: claimableParts[index] ?? 0n,
        claimableAssets: worth[index] ?? 0n,
        paidShares: claimed,
        paidAssets: given,
        cancelledShares: cancelled,
      }
      const status = statusOf(parts)
      const assets = status === 'pending' ? null : given + parts.claimableAssets
      return [entry, { entry, status, assets, ...parts, claimTransactionHash }]
    }),
  )

  return entries.flatMap((entry): Withdrawal | Withdrawal[] => {
    if (entry.kind === 'withdraw' && !entry.isClaim) return buildInstantWithdrawal(entry)
    return entry.kind === 'redeem' ? (requests.get(entry) ?? []) : []
  })
}

/**
 * Builds a withdrawal whose assets were fixed at the request. Assets that are neither pending nor claimable count as
 * paid, whichever account received them.
 */
function fixedWithdrawal(
  entry: FixedRequest,
  open: { readonly pending: bigint; readonly claimable: bigint },
  transactionHash: Hash | null,
): Withdrawal {
  const [pendingShares, claimableShares] = [computeShares(entry, open.pending), computeShares(entry, open.claimable)]
  const isPaid = open.pending + open.claimable === 0n
  const parts = {
    pendingShares,
    claimableShares,
    claimableAssets: open.claimable,
    paidShares: entry.shares - pendingShares - claimableShares,
    paidAssets: entry.assets - open.pending - open.claimable,
    cancelledShares: 0n,
  }
  return {
    entry,
    status: statusOf(parts),
    assets: entry.assets,
    ...parts,
    claimTransactionHash: isPaid ? transactionHash : null,
  }
}

/**
 * Builds the queue of an account's redemption requests from its withdrawals, claims and cancellations. `granted` are
 * the requests whose cancellation the vault's contract has granted. Requests are in shares; claims pay assets. Requests
 * with fixed assets are in assets instead, with `given` in shares.
 */
export function buildRedemptionQueue(entries: readonly LedgerEntry[], granted: readonly CancelledRequest[] = []) {
  const paid = matchPayments(entries)
  return buildRequestQueue([
    ...entries.flatMap((entry): QueueEvent<RequestEntry>[] => {
      switch (entry.kind) {
        case 'redeem':
          return [{ request: entry, amount: entry.assets ?? entry.shares }]
        case 'paid':
          return (paid.get(entry) ?? []).map(({ assets, shares }) => {
            return { claimed: assets, given: shares, transactionHash: entry.transactionHash }
          })
        case 'cancelRedeem':
          return [{ requestId: entry.requestId, cancelled: entry.shares }]
        case 'withdraw':
          return entry.isClaim
            ? [{ claimed: entry.shares, given: entry.assets, transactionHash: entry.transactionHash }]
            : []
        default:
          return []
      }
    }),
    ...granted.map(({ requestId, amount }) => ({ requestId, cancelled: amount })),
  ])
}

function buildInstantWithdrawal(entry: PaymentEntry): Withdrawal {
  const { assets, shares, transactionHash } = entry
  const none = { pendingShares: 0n, claimableShares: 0n, claimableAssets: 0n, cancelledShares: 0n }
  const paid = { paidShares: shares, paidAssets: assets, claimTransactionHash: transactionHash }
  return { entry, status: 'completed', assets, ...none, ...paid }
}

type Parts = Pick<Withdrawal, 'pendingShares' | 'claimableShares' | 'paidShares' | 'cancelledShares'>

function statusOf({ pendingShares, claimableShares, paidShares, cancelledShares }: Parts): HistoryStatus {
  if (pendingShares > 0n) return 'pending'
  if (claimableShares > 0n) return 'claimable'
  if (paidShares > 0n) return 'completed'
  // Shares that were neither paid nor cancelled may be unsettled, though the vault reports nothing pending.
  return cancelledShares > 0n ? 'cancelled' : 'pending'
}
