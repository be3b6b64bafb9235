import type { LiveAccount } from '../protocols/protocol.ts'
import type { LedgerEntry } from './ledger-entry.ts'

/** What became of a deposit. */
type DepositStatus = 'pending' | 'claimable' | 'completed' | 'cancelled'

type DepositEntry = Extract<LedgerEntry, { kind: 'deposit' }>

/** A deposit and its part of what the user has now, in the smallest units of asset and share. */
export type Deposit = {
  readonly entry: DepositEntry
  readonly status: DepositStatus
  readonly pendingDeposit: bigint
  readonly claimableShares: bigint
  readonly currentShares: bigint
}

/**
 * The deposits among a user's ledger entries in one vault, in order, with what the user has there now divided between them:
 * what is claimed or spent is the oldest first. The parts add up to the whole.
 */
export function buildDeposits(entries: readonly LedgerEntry[], live: LiveAccount): Deposit[] {
  const deposits = entries.filter((entry) => entry.kind === 'deposit')
  const cancelled = cancelledDeposits(entries)
  const open = openDeposits(entries)
  const minted = mintedShares(entries)

  const pendingParts = proRata(
    live.pendingAssets,
    open.map(({ assets }) => assets),
  )
  const openAssets = sum(open.map(({ assets }) => assets))
  const claimableParts = takeFirstIn(
    open.map(({ assets }) => assets),
    max(0n, openAssets - live.claimableAssets),
  )
  const claimableShares = proRata(live.claimableShares, claimableParts)

  // Shares that came by transfer stand between the deposits, in the order in which everything came.
  const sources: { entry: LedgerEntry; shares: bigint }[] = []
  for (const entry of entries) {
    if (entry.kind === 'receive') sources.push({ entry, shares: entry.shares })
    if (entry.kind === 'deposit') sources.push({ entry, shares: minted.get(entry) ?? 0n })
  }
  const gained = sum(sources.map(({ shares }) => shares))
  const left = takeFirstIn(
    sources.map(({ shares }) => shares),
    max(0n, gained - live.shares),
  )
  const leftOf = new Map<LedgerEntry, bigint>(sources.map(({ entry }, index) => [entry, left[index] ?? 0n]))

  const openIndex = new Map<LedgerEntry, number>(open.map((entry, index) => [entry, index]))

  return deposits.map((entry) => {
    const index = openIndex.get(entry) ?? -1
    const pendingDeposit = live.pendingAssets > 0n ? (pendingParts[index] ?? 0n) : 0n
    const claimable = live.claimableAssets > 0n ? (claimableParts[index] ?? 0n) : 0n
    return {
      entry,
      status: statusOf({ isCancelled: cancelled.has(entry), pendingDeposit, claimable }),
      pendingDeposit,
      claimableShares: claimable > 0n ? (claimableShares[index] ?? 0n) : 0n,
      currentShares: leftOf.get(entry) ?? 0n,
    }
  })
}

/** The requests that can still be pending or claimable: those with the last id that were not taken back. */
function openDeposits(entries: readonly LedgerEntry[]): DepositEntry[] {
  const cancelled = cancelledDeposits(entries)
  const requests = entries
    .filter((entry) => entry.kind === 'deposit')
    .filter((entry) => entry.requestId > 0n && !cancelled.has(entry))
  const last = requests.reduce((highest, { requestId }) => max(highest, requestId), 0n)
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

/** The shares that each deposit led to: at once, or by the claims of its request, the oldest deposit first. */
function mintedShares(entries: readonly LedgerEntry[]): ReadonlyMap<LedgerEntry, bigint> {
  const minted = new Map<LedgerEntry, bigint>()
  const cancelled = cancelledDeposits(entries)
  const waiting: { readonly deposit: DepositEntry; assets: bigint }[] = []
  let oldest = 0
  for (const entry of entries) {
    if (entry.kind === 'deposit' && entry.shares !== null) minted.set(entry, entry.shares)
    else if (entry.kind === 'deposit' && !cancelled.has(entry)) waiting.push({ deposit: entry, assets: entry.assets })
    else if (entry.kind === 'claim') {
      const claimed: typeof waiting = []
      let rest = entry.assets
      for (let one = waiting[oldest]; one && rest > 0n; one = waiting[oldest]) {
        const assets = rest < one.assets ? rest : one.assets
        claimed.push({ deposit: one.deposit, assets })
        one.assets -= assets
        rest -= assets
        if (one.assets === 0n) oldest += 1
      }
      const shares = proRata(
        entry.shares,
        claimed.map(({ assets }) => assets),
      )
      for (const [index, { deposit }] of claimed.entries()) {
        minted.set(deposit, (minted.get(deposit) ?? 0n) + (shares[index] ?? 0n))
      }
    }
  }
  return minted
}

function statusOf({
  isCancelled,
  pendingDeposit,
  claimable,
}: {
  isCancelled: boolean
  pendingDeposit: bigint
  claimable: bigint
}): DepositStatus {
  if (isCancelled) return 'cancelled'
  if (pendingDeposit > 0n) return 'pending'
  return claimable > 0n ? 'claimable' : 'completed'
}

/** A whole divided in proportion to weights, to the last unit: the parts add up to it. */
function proRata(whole: bigint, weights: readonly bigint[]): bigint[] {
  const total = sum(weights)
  if (total === 0n) return weights.map(() => 0n)
  let before = 0n
  let given = 0n
  return weights.map((weight) => {
    before += weight
    const upTo = (whole * before) / total
    const part = upTo - given
    given = upTo
    return part
  })
}

/** What is left of amounts after spending some of them, the first ones first. */
function takeFirstIn(amounts: readonly bigint[], spent: bigint): bigint[] {
  let rest = spent
  return amounts.map((amount) => {
    const taken = rest < amount ? rest : amount
    rest -= taken
    return amount - taken
  })
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n)
}

function max(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}
