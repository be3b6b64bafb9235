import type { LiveAccount } from '../protocols/protocol.ts'
import type { Movement } from './movement.ts'

/** What became of a deposit. */
type DepositStatus = 'pending' | 'claimable' | 'completed' | 'cancelled'

type DepositMovement = Extract<Movement, { kind: 'deposit' }>

/** A deposit and its part of what the user has now, in the smallest units of asset and share. */
export type DepositEntry = {
  readonly movement: DepositMovement
  readonly status: DepositStatus
  readonly pendingDeposit: bigint
  readonly claimableShares: bigint
  readonly currentShares: bigint
}

/**
 * The deposits among a user's movements in one vault, in order, with what the user has there now divided between them:
 * what is claimed or spent is the oldest first. The parts add up to the whole.
 */
export function depositEntries(movements: readonly Movement[], live: LiveAccount): DepositEntry[] {
  const deposits = movements.filter((movement) => movement.kind === 'deposit')
  const cancelled = cancelledDeposits(movements)
  const open = openDeposits(movements)
  const minted = mintedShares(movements)

  const pendingParts = parts(
    live.pendingAssets,
    open.map(({ assets }) => assets),
  )
  const openAssets = sum(open.map(({ assets }) => assets))
  const claimableParts = spendOldest(
    open.map(({ assets }) => assets),
    max(0n, openAssets - live.claimableAssets),
  )
  const claimableShares = parts(live.claimableShares, claimableParts)

  // Shares that came by transfer stand between the deposits, in the order in which everything came.
  const sources: { movement: Movement; shares: bigint }[] = []
  for (const movement of movements) {
    if (movement.kind === 'receive') sources.push({ movement, shares: movement.shares })
    if (movement.kind === 'deposit') sources.push({ movement, shares: minted.get(movement) ?? 0n })
  }
  const gained = sum(sources.map(({ shares }) => shares))
  const kept = spendOldest(
    sources.map(({ shares }) => shares),
    max(0n, gained - live.shares),
  )
  const keptOf = new Map<Movement, bigint>(sources.map(({ movement }, index) => [movement, kept[index] ?? 0n]))

  const openIndex = new Map<Movement, number>(open.map((movement, index) => [movement, index]))

  return deposits.map((movement) => {
    const index = openIndex.get(movement) ?? -1
    const pendingDeposit = live.pendingAssets > 0n ? (pendingParts[index] ?? 0n) : 0n
    const claimable = live.claimableAssets > 0n ? (claimableParts[index] ?? 0n) : 0n
    return {
      movement,
      status: statusOf({ isCancelled: cancelled.has(movement), pendingDeposit, claimable }),
      pendingDeposit,
      claimableShares: claimable > 0n ? (claimableShares[index] ?? 0n) : 0n,
      currentShares: keptOf.get(movement) ?? 0n,
    }
  })
}

/** The requests that can still be pending or claimable: those with the last id that were not taken back. */
function openDeposits(movements: readonly Movement[]): DepositMovement[] {
  const cancelled = cancelledDeposits(movements)
  const requests = movements
    .filter((movement) => movement.kind === 'deposit')
    .filter((movement) => movement.requestId > 0n && !cancelled.has(movement))
  const last = requests.reduce((highest, { requestId }) => max(highest, requestId), 0n)
  return requests.filter(({ requestId }) => requestId === last)
}

/** The requests that a later cancellation took back: all of the same id up to then. */
export function cancelledDeposits(movements: readonly Movement[]): ReadonlySet<Movement> {
  const cancelled = new Set<Movement>()
  const cancelledLater = new Set<bigint>()
  for (const movement of movements.toReversed()) {
    if (movement.kind === 'cancel') cancelledLater.add(movement.requestId)
    if (movement.kind === 'deposit' && cancelledLater.has(movement.requestId)) cancelled.add(movement)
  }
  return cancelled
}

/** The shares that each deposit led to: at once, or by the claims of its request, the oldest deposit first. */
function mintedShares(movements: readonly Movement[]): ReadonlyMap<Movement, bigint> {
  const minted = new Map<Movement, bigint>()
  const cancelled = cancelledDeposits(movements)
  const waiting: { readonly deposit: DepositMovement; assets: bigint }[] = []
  let oldest = 0
  for (const movement of movements) {
    if (movement.kind === 'deposit' && movement.shares !== null) minted.set(movement, movement.shares)
    else if (movement.kind === 'deposit' && !cancelled.has(movement))
      waiting.push({ deposit: movement, assets: movement.assets })
    else if (movement.kind === 'claim') {
      const claimed: typeof waiting = []
      let rest = movement.assets
      for (let one = waiting[oldest]; one && rest > 0n; one = waiting[oldest]) {
        const assets = rest < one.assets ? rest : one.assets
        claimed.push({ deposit: one.deposit, assets })
        one.assets -= assets
        rest -= assets
        if (one.assets === 0n) oldest += 1
      }
      const shares = parts(
        movement.shares,
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
function parts(whole: bigint, weights: readonly bigint[]): bigint[] {
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
function spendOldest(amounts: readonly bigint[], spent: bigint): bigint[] {
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
