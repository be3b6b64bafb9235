import type { Hash } from 'viem'
import type { LiveAccount } from '../protocols/protocol.ts'
import type { HistoryStatus, LedgerEntry } from './ledger-entry.ts'
import { type Part, proRata, takeNewest, takeOldest, unspent } from './parts.ts'

type RequestEntry = Extract<LedgerEntry, { kind: 'redeem' }>
type PaymentEntry = Extract<LedgerEntry, { kind: 'withdraw' }>

/** A withdrawal, a redemption request or one at once, and what became of its parts; in the smallest units of asset and share. */
export type Withdrawal = {
  readonly entry: RequestEntry | PaymentEntry
  readonly status: HistoryStatus
  /** What it comes to: what was paid and what can be claimed; null while a part is pending, for that is worth what it is later. */
  readonly assets: bigint | null
  readonly pendingShares: bigint
  readonly claimableShares: bigint
  readonly claimableAssets: bigint
  readonly paidShares: bigint
  readonly paidAssets: bigint
  readonly cancelledShares: bigint
  /** The last transaction that paid a part of it; null before. */
  readonly claimTransactionHash: Hash | null
}

/**
 * The withdrawals among an account's ledger entries in one vault, in order, with what the account has there in redemption
 * divided between them. Requests stand in line, oldest first: claims have paid the first of them, what is claimable comes
 * next, and what is pending last; cancellations took from the end. So one request may be in several states, of which
 * `status` is the one that is furthest from its end. Assets are divided pro rata: of a claim between the requests that it
 * paid, of what is claimable between those that have a part of it. The parts add up to the whole.
 */
export function buildWithdrawals(entries: readonly LedgerEntry[], live: LiveAccount): Withdrawal[] {
  const { waiting, paid, cancelled } = walk(entries)
  const { pendingRedeemShares, claimableRedeemShares, claimableRedeemAssets } = live
  const open = unspent(
    waiting.map(({ amount }) => amount),
    pendingRedeemShares + claimableRedeemShares,
  )
  const pendingParts = unspent(open, pendingRedeemShares)
  const claimableParts = open.map((shares, index) => shares - (pendingParts[index] ?? 0n))
  const byRequest = (amounts: readonly bigint[]) =>
    new Map(waiting.map(({ entry }, index) => [entry, amounts[index] ?? 0n]))
  const [pending, claimable, worth] = [
    byRequest(pendingParts),
    byRequest(claimableParts),
    byRequest(proRata(claimableRedeemAssets, claimableParts)),
  ]

  return entries.flatMap((entry): Withdrawal[] => {
    if (entry.kind === 'withdraw' && !entry.isClaim) return [paidAtOnce(entry)]
    if (entry.kind !== 'redeem') return []
    const { shares: paidShares, assets: paidAssets, transactionHash } = paid.get(entry) ?? UNPAID
    const parts = {
      pendingShares: pending.get(entry) ?? 0n,
      claimableShares: claimable.get(entry) ?? 0n,
      claimableAssets: worth.get(entry) ?? 0n,
      paidShares,
      paidAssets,
      cancelledShares: cancelled.get(entry) ?? 0n,
    }
    const status = statusOf(parts)
    const assets = status === 'pending' ? null : paidAssets + parts.claimableAssets
    return [{ entry, status, assets, ...parts, claimTransactionHash: transactionHash }]
  })
}

type Paid = { readonly shares: bigint; readonly assets: bigint; readonly transactionHash: Hash | null }
const UNPAID: Paid = { shares: 0n, assets: 0n, transactionHash: null }

/** What happened to the requests: the shares that wait, the oldest first, what claims paid, and what was taken back. */
function walk(entries: readonly LedgerEntry[]) {
  const waiting: Part<RequestEntry>[] = []
  const paid = new Map<LedgerEntry, Paid>()
  const cancelled = new Map<LedgerEntry, bigint>()
  for (const entry of entries) {
    if (entry.kind === 'redeem') waiting.push({ entry, amount: entry.shares })
    else if (entry.kind === 'cancelRedeem') {
      const isMeant = ({ requestId }: RequestEntry) => requestId === entry.requestId
      for (const { entry: request, amount } of takeNewest(waiting, entry.shares, isMeant)) {
        cancelled.set(request, (cancelled.get(request) ?? 0n) + amount)
      }
    } else if (entry.kind === 'withdraw' && entry.isClaim) {
      const { transactionHash } = entry
      const claimed = takeOldest(waiting, entry.shares)
      const assets = proRata(
        entry.assets,
        claimed.map(({ amount }) => amount),
      )
      for (const [index, { entry: request, amount }] of claimed.entries()) {
        const before = paid.get(request) ?? UNPAID
        paid.set(request, {
          shares: before.shares + amount,
          assets: before.assets + (assets[index] ?? 0n),
          transactionHash,
        })
      }
    }
  }
  return { waiting, paid, cancelled }
}

function paidAtOnce(entry: PaymentEntry): Withdrawal {
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
  // Of what was not paid nor taken back the vault shows nothing: that it is settled is not known.
  return cancelledShares > 0n ? 'cancelled' : 'pending'
}
