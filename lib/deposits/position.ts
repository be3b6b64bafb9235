import type { LiveAccount } from './account.ts'
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
  const currentValue =
    live.pendingAssets +
    live.worth(live.shares + live.claimableShares + live.pendingRedeemShares) +
    live.claimableRedeemAssets
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
