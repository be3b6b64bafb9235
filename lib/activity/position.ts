import { max, sum } from '../core/bigint.ts'
import { MAX_UINT256 } from '../core/codecs.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import { type LiveAccount, sumCancelled } from '../protocols/protocol.ts'
import { buildDeposits, computeCancelledAssets, type Deposit } from './history.ts'

/** Account's position in a vault; amounts in the smallest units of asset and share. */
export type Position = {
  readonly deposits: readonly Deposit[]
  readonly totalDepositedAssets: bigint
  readonly totalWithdrawnAssets: bigint
  readonly currentValue: bigint
  readonly earnedAssets: bigint
  readonly depositCount: number
  /**
   * Date of the first deposit that was not cancelled. Without such a deposit, date of the first ledger entry that moved
   * assets or shares.
   */
  readonly startDate: Date
  /** Date of the last deposit that was not cancelled; equal to `startDate` without such a deposit. */
  readonly lastDepositDate: Date
  readonly statusBreakdown: { readonly pending: number; readonly claimable: number; readonly completed: number }
}

/** Kinds of ledger entries that bring nothing into a vault or out of it. An account with only these kinds has no position. */
const KINDS_WITHOUT_POSITION: ReadonlySet<LedgerEntry['kind']> = new Set(['cancel', 'redeem', 'cancelRedeem', 'paid'])

/** Builds an account's position from its ledger entries in one vault, in order; null if no entry moved anything in or out. */
export function buildPosition(entries: readonly LedgerEntry[], live: LiveAccount): Position | null {
  const first = entries.find(({ kind }) => !KINDS_WITHOUT_POSITION.has(kind))
  if (!first) return null
  const cancelled = computeCancelledAssets(entries)
  const deposits = buildDeposits(entries, live)
  const standing = deposits.filter(({ status }) => status !== 'cancelled')

  let [totalDepositedAssets, totalWithdrawnAssets] = [0n, 0n]
  for (const entry of entries) {
    const { kind } = entry
    if (kind === 'deposit') totalDepositedAssets += entry.assets - (cancelled.get(entry) ?? 0n)
    else if (kind === 'withdraw') totalWithdrawnAssets += entry.assets
    else if (kind === 'redeem') totalWithdrawnAssets += entry.assets ?? 0n
    // Shares moved before the first known price are valued at the current price, so they show no gain.
    else if (kind === 'receive') totalDepositedAssets += entry.assets ?? live.worth(entry.shares)
    else if (kind === 'send') totalWithdrawnAssets += entry.assets ?? live.worth(entry.shares)
  }
  // Assets in a cooldown, or claimable after a cooldown, are not withdrawn yet.
  if (live.cooldown) {
    totalWithdrawnAssets = max(0n, totalWithdrawnAssets - live.cooldown.pendingAssets - live.claimableRedeemAssets)
  }
  const currentValue = totalValue(live)
  const countOf = (wanted: Deposit['status']) => standing.filter(({ status }) => status === wanted).length

  return {
    deposits,
    totalDepositedAssets,
    totalWithdrawnAssets,
    currentValue,
    earnedAssets: currentValue + totalWithdrawnAssets - totalDepositedAssets,
    depositCount: standing.length,
    startDate: (standing[0]?.entry ?? first).timestamp,
    lastDepositDate: (standing.at(-1)?.entry ?? first).timestamp,
    statusBreakdown: { pending: countOf('pending'), claimable: countOf('claimable'), completed: countOf('completed') },
  }
}

/** Returns true if all amounts and their sum are from 0 to 2^256 - 1. A vault's contract can report false events and balances. */
export function hasPlausibleAmounts(entries: readonly LedgerEntry[], live: LiveAccount): boolean {
  const moved = sum(entries.map((entry) => ('assets' in entry ? (entry.assets ?? 0n) : 0n)))
  const { pendingAssets, claimableShares, shares, sharePrice } = live
  const { pendingRedeemShares, claimableRedeemShares, claimableRedeemAssets } = live
  const redemptions = [pendingRedeemShares, claimableRedeemShares, claimableRedeemAssets]
  const cancelled = [live.cancelledDeposits, live.cancelledRedemptions].map(sumCancelled)
  const balances = [pendingAssets, claimableShares, shares, ...redemptions, ...cancelled]
  return [moved + totalValue(live), totalValue(live), sharePrice, ...balances].every(
    (amount) => amount >= 0n && amount <= MAX_UINT256,
  )
}

/** Returns the value of the account's whole holding in the vault, in the asset's smallest unit. */
function totalValue({ worth, ...live }: LiveAccount): bigint {
  const pendingShares = live.cooldown ? 0n : live.pendingRedeemShares
  const shares = live.shares + live.claimableShares + pendingShares + sumCancelled(live.cancelledRedemptions)
  const redeemed = live.claimableRedeemAssets + (live.cooldown?.pendingAssets ?? 0n)
  return live.pendingAssets + sumCancelled(live.cancelledDeposits) + worth(shares) + redeemed
}
