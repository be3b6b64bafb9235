import type { LiveAccount } from '../protocols/protocol.ts'
import type { HistoryStatus, LedgerEntry } from './ledger-entry.ts'
import { type Part, proRata, takeOldest, unspent } from './parts.ts'

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
 * between them: pending assets and claimable shares pro rata, claims and spent shares FIFO. The parts add up to the whole.
 */
export function buildDeposits(entries: readonly LedgerEntry[], live: LiveAccount): Deposit[] {
  const cancelled = cancelledDeposits(entries)
  const deposits = entries.filter((entry) => entry.kind === 'deposit')
  const open = openDeposits(deposits, cancelled)
  const openAssets = open.map(({ assets }) => assets)
  const claimableAssets = unspent(openAssets, live.claimableAssets)
  const pending = byEntry(open, proRata(live.pendingAssets, openAssets))
  const claimable = byEntry(open, claimableAssets)
  const claimableShares = byEntry(open, proRata(live.claimableShares, claimableAssets))

  // Shares that came by transfer stand between the deposits, in the order in which everything came.
  const minted = mintedShares(entries, cancelled)
  const sources = entries.filter((entry) => entry.kind === 'deposit' || entry.kind === 'receive')
  const gained = sources.map((entry) => (entry.kind === 'receive' ? entry.shares : (minted.get(entry) ?? 0n)))
  const shares = byEntry(sources, unspent(gained, live.shares))

  const statusOf = (entry: DepositEntry): HistoryStatus => {
    if (cancelled.has(entry)) return 'cancelled'
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

/** The requests that can still be pending or claimable: those with the last id that were not taken back. */
function openDeposits(deposits: readonly DepositEntry[], cancelled: ReadonlySet<LedgerEntry>): DepositEntry[] {
  const requests = deposits.filter((entry) => entry.requestId > 0n && !cancelled.has(entry))
  const last = requests.reduce((highest, { requestId }) => (requestId > highest ? requestId : highest), 0n)
  return requests.filter(({ requestId }) => requestId === last)
}

/** The requests that a later cancellation took back: all of the same id up to then. */
export function cancelledDeposits(entries: readonly LedgerEntry[]): ReadonlySet<LedgerEntry> {
  const cancelled = new Set<LedgerEntry>()
  const cancelledLater = new Set<bigint>()
  for (const entry of entries.toReversed()) {
    if (entry.kind === 'cancel') cancelledLater.add(entry.requestId)
    if (entry.kind === 'deposit' && cancelledLater.has(entry.requestId)) cancelled.add(entry)
  }
  return cancelled
}

/** The shares that each deposit led to: at once, or by the claims of its request, FIFO. */
function mintedShares(
  entries: readonly LedgerEntry[],
  cancelled: ReadonlySet<LedgerEntry>,
): ReadonlyMap<LedgerEntry, bigint> {
  const minted = new Map<LedgerEntry, bigint>()
  const waiting: Part<DepositEntry>[] = []
  for (const entry of entries) {
    if (entry.kind === 'deposit' && entry.shares !== null) minted.set(entry, entry.shares)
    else if (entry.kind === 'deposit' && !cancelled.has(entry)) waiting.push({ entry, amount: entry.assets })
    else if (entry.kind === 'claim') {
      const claimed = takeOldest(waiting, entry.assets)
      const parts = proRata(
        entry.shares,
        claimed.map(({ amount }) => amount),
      )
      for (const [index, { entry: deposit }] of claimed.entries()) {
        minted.set(deposit, (minted.get(deposit) ?? 0n) + (parts[index] ?? 0n))
      }
    }
  }
  return minted
}

function byEntry(entries: readonly LedgerEntry[], amounts: readonly bigint[]): ReadonlyMap<LedgerEntry, bigint> {
  return new Map(entries.map((entry, index) => [entry, amounts[index] ?? 0n]))
}
