import { MAX_UINT256 } from '../codecs.ts'
import type { LiveAccount } from '../protocols/protocol.ts'
import type { HistoryStatus, LedgerEntry } from './ledger-entry.ts'
import { type Part, proRata, takeNewest, takeOldest, unspent } from './parts.ts'

type DepositEntry = Extract<LedgerEntry, { kind: 'deposit' }>

/** A deposit and its part of what the account has now, in the smallest units of asset and share. */
export type Deposit = {
  readonly entry: DepositEntry
  readonly status: HistoryStatus
  readonly pendingDeposit: bigint
  readonly claimableShares: bigint
  readonly currentShares: bigint
}

/**
 * The deposits among an account's ledger entries in one vault, in order, with what the account has there now divided
 * between them. Requests stand in line, oldest first: claims have taken the first of them, what is claimable comes next,
 * and what is pending last; cancellations took from the end. Shares that left were the first that came. The parts add up
 * to the whole.
 */
export function buildDeposits(entries: readonly LedgerEntry[], live: LiveAccount): Deposit[] {
  const { waiting, minted, cancelled } = walk(entries)
  const requests = waiting.map(({ entry }) => entry)
  const open = unspent(
    waiting.map(({ amount }) => amount),
    live.pendingAssets + live.claimableAssets,
  )
  const pendingParts = unspent(open, live.pendingAssets)
  const claimableParts = open.map((assets, index) => assets - (pendingParts[index] ?? 0n))
  const pending = byEntry(requests, proRata(live.pendingAssets, pendingParts))
  const claimable = byEntry(requests, claimableParts)
  const claimableShares = byEntry(requests, proRata(live.claimableShares, claimableParts))

  // Shares that came by transfer stand between the deposits, in the order in which everything came.
  const deposits = entries.filter((entry) => entry.kind === 'deposit')
  const sources = entries.filter((entry) => entry.kind === 'deposit' || entry.kind === 'receive')
  const gained = sources.map((entry) => (entry.kind === 'receive' ? entry.shares : (minted.get(entry) ?? 0n)))
  const shares = byEntry(sources, unspent(gained, live.shares))

  const statusOf = (entry: DepositEntry): HistoryStatus => {
    if (cancelled.get(entry) === entry.assets) return 'cancelled'
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

/** The assets that later cancellations took back of each deposit. */
export function cancelledAssets(entries: readonly LedgerEntry[]): ReadonlyMap<LedgerEntry, bigint> {
  return walk(entries).cancelled
}

/** What happened to the deposits: the assets that wait, the oldest first, the shares that came, and what was taken back. */
function walk(entries: readonly LedgerEntry[]) {
  const waiting: Part<DepositEntry>[] = []
  const minted = new Map<LedgerEntry, bigint>()
  const cancelled = new Map<LedgerEntry, bigint>()
  for (const entry of entries) {
    if (entry.kind === 'deposit') {
      if (entry.shares === null) waiting.push({ entry, amount: entry.assets })
      else minted.set(entry, entry.shares)
    } else if (entry.kind === 'cancel') {
      const isMeant = ({ requestId }: DepositEntry) => requestId === entry.requestId
      for (const { entry: request, amount } of takeNewest(waiting, entry.assets ?? MAX_UINT256, isMeant)) {
        cancelled.set(request, (cancelled.get(request) ?? 0n) + amount)
      }
    } else if (entry.kind === 'claim') {
      const claimed = takeOldest(waiting, entry.assets)
      const shares = proRata(
        entry.shares,
        claimed.map(({ amount }) => amount),
      )
      for (const [index, { entry: request }] of claimed.entries()) {
        minted.set(request, (minted.get(request) ?? 0n) + (shares[index] ?? 0n))
      }
    }
  }
  return { waiting, minted, cancelled }
}

function byEntry(entries: readonly LedgerEntry[], amounts: readonly bigint[]): ReadonlyMap<LedgerEntry, bigint> {
  return new Map(entries.map((entry, index) => [entry, amounts[index] ?? 0n]))
}
