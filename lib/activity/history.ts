import type { LiveAccount } from '../protocols/protocol.ts'
import type { LedgerEntry } from './ledger-entry.ts'

/** What became of a deposit. */
type DepositStatus = 'pending' | 'claimable' | 'completed' | 'cancelled'

type DepositEntry = Extract<LedgerEntry, { kind: 'deposit' }>

/** A deposit and its part of what the account has now, in the smallest units of asset and share. */
export type Deposit = {
  readonly entry: DepositEntry
  readonly status: DepositStatus
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

  const statusOf = (entry: DepositEntry): DepositStatus => {
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
  const waiting: { readonly deposit: DepositEntry; assets: bigint }[] = []
  let oldest = 0
  for (const entry of entries) {
    if (entry.kind === 'deposit' && entry.shares !== null) minted.set(entry, entry.shares)
    else if (entry.kind === 'deposit' && !cancelled.has(entry)) waiting.push({ deposit: entry, assets: entry.assets })
    else if (entry.kind === 'claim') {
      const claimed: typeof waiting = []
      let rest = entry.assets
      for (let one = waiting[oldest]; one && rest > 0n; one = waiting[oldest]) {
        const assets = min(rest, one.assets)
        claimed.push({ deposit: one.deposit, assets })
        one.assets -= assets
        rest -= assets
        if (one.assets === 0n) oldest += 1
      }
      const parts = proRata(
        entry.shares,
        claimed.map(({ assets }) => assets),
      )
      for (const [deposit, shares] of byEntry(
        claimed.map((one) => one.deposit),
        parts,
      )) {
        minted.set(deposit, (minted.get(deposit) ?? 0n) + shares)
      }
    }
  }
  return minted
}

function byEntry(entries: readonly LedgerEntry[], amounts: readonly bigint[]): ReadonlyMap<LedgerEntry, bigint> {
  return new Map(entries.map((entry, index) => [entry, amounts[index] ?? 0n]))
}

/** A whole divided in proportion to weights, to the last unit: the parts add up to it. */
function proRata(whole: bigint, weights: readonly bigint[]): bigint[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  let before = 0n
  return weights.map((weight) => {
    const from = before
    before += weight
    return total === 0n ? 0n : (whole * before) / total - (whole * from) / total
  })
}

/** What is left of each amount when so much is left of all of them, and the first ones were spent first. */
function unspent(amounts: readonly bigint[], left: bigint): bigint[] {
  let rest = left
  const parts = amounts.toReversed().map((amount) => {
    const part = min(amount, rest)
    rest -= part
    return part
  })
  return parts.toReversed()
}

function min(left: bigint, right: bigint): bigint {
  return left < right ? left : right
}
