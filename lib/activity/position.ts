import { MAX_UINT256 } from '../codecs.ts'
import type { LiveAccount } from '../protocols/protocol.ts'
import { cancelledDeposits, type DepositEntry, depositEntries } from './history.ts'
import type { Movement } from './movement.ts'

/** What a user put into a vault, took out, has there and earned; amounts in the smallest units of asset and share. */
export type Position = {
  readonly entries: readonly DepositEntry[]
  readonly totalDepositedAssets: bigint
  readonly totalWithdrawnAssets: bigint
  readonly currentValue: bigint
  /** May be below zero. */
  readonly earnedAssets: bigint
  readonly depositCount: number
  /** Of the first and the last deposit that was not cancelled; of the first movement where there is none. */
  readonly startDate: Date
  readonly lastDepositDate: Date
  readonly statusBreakdown: { readonly pending: number; readonly claimable: number; readonly completed: number }
}

/** The position that a user's movements in one vault, in order, led to; null where there is nothing but cancellations. */
export function buildPosition(movements: readonly Movement[], live: LiveAccount): Position | null {
  // Who only cancelled cancelled nothing.
  const first = movements.find(({ kind }) => kind !== 'cancel')
  if (!first) return null
  const cancelled = cancelledDeposits(movements)
  const entries = depositEntries(movements, live)
  const standing = entries.filter(({ status }) => status !== 'cancelled')

  const totalOf = (kinds: readonly Movement['kind'][]) =>
    movements.reduce((total, movement) => {
      const counts = kinds.includes(movement.kind) && !cancelled.has(movement)
      return counts && 'assets' in movement ? total + movement.assets : total
    }, 0n)
  const totalDepositedAssets = totalOf(['deposit', 'receive'])
  const totalWithdrawnAssets = totalOf(['withdraw', 'send'])
  const currentValue = totalValue(live)
  const countOf = (wanted: DepositEntry['status']) => standing.filter(({ status }) => status === wanted).length

  return {
    entries,
    totalDepositedAssets,
    totalWithdrawnAssets,
    currentValue,
    earnedAssets: currentValue + totalWithdrawnAssets - totalDepositedAssets,
    depositCount: standing.length,
    startDate: (standing[0]?.movement ?? first).timestamp,
    lastDepositDate: (standing.at(-1)?.movement ?? first).timestamp,
    statusBreakdown: { pending: countOf('pending'), claimable: countOf('claimable'), completed: countOf('completed') },
  }
}

/** Whether a position can be made of this and told: a vault may make up its events and balances, and their sums be any. */
export function isPlausible(movements: readonly Movement[], live: LiveAccount): boolean {
  const moved = movements.reduce((total, movement) => ('assets' in movement ? total + movement.assets : total), 0n)
  const { pendingAssets, claimableShares, shares, pendingRedeemShares, claimableRedeemAssets, sharePrice } = live
  const balances = [pendingAssets, claimableShares, shares, pendingRedeemShares, claimableRedeemAssets]
  return (
    [moved, totalValue(live), sharePrice, ...balances].every((amount) => amount >= 0n && amount <= MAX_UINT256) &&
    movements.every((movement) => !('requestId' in movement) || movement.requestId <= Number.MAX_SAFE_INTEGER)
  )
}

/** What everything of the user in the vault is worth, in the asset's smallest unit. */
function totalValue({ worth, ...live }: LiveAccount): bigint {
  const shares = live.shares + live.claimableShares + live.pendingRedeemShares
  return live.pendingAssets + worth(shares) + live.claimableRedeemAssets
}
