import { AppError, type ErrorCode, type ErrorDetail, mustBeAtMost } from '../core/errors.ts'
import type { WithdrawalAmount } from './protocol.ts'

/** Shares of an account by place, in the smallest unit; undefined if not reported. */
export type ShareBalances = {
  readonly inWallet: bigint
  /** Shares of settled deposits. */
  readonly unclaimed: bigint | undefined
  /** Shares in unsettled and in settled redemption requests. */
  readonly pending: bigint | undefined
  readonly claimable: bigint
  /** Shares in cancelled redemptions; absent if the vault cancels none. */
  readonly cancelled?: bigint
}

/**
 * Builds the error for an amount that the account does not have. Its details list the shares by place, and `most`, the
 * amount that works now, if known (in the amount's unit).
 */
export function buildBalanceError(
  amount: WithdrawalAmount,
  { inWallet, unclaimed, pending, claimable, cancelled = 0n }: ShareBalances,
  most = 0n,
): AppError {
  const elsewhere = [
    [unclaimed, 'of settled deposits not claimed'],
    [pending, 'in redemptions not settled'],
    [claimable, 'in settled redemptions not claimed'],
    [cancelled, 'in cancelled redemptions not returned yet'],
  ] as const
  const parts = elsewhere.flatMap(([shares, where]) => (shares === 0n ? [] : [`${shares ?? 'not known'} ${where}`]))
  const shares = `the user has shares, in their smallest unit: ${[`${inWallet} in the wallet`, ...parts].join(', ')}`
  const field = nameAmountField(amount)
  const requested = amount === 'max' ? 0n : 'assets' in amount ? amount.assets : amount.shares
  // Some vaults ignore fees and report `most` ≥ the requested amount.
  if (most <= 0n || most >= requested)
    return new AppError('amount_exceeds_balance', { details: [{ field, issue: shares }] })
  const detail = mustBeAtMost(field, most)
  return new AppError('amount_exceeds_balance', { details: [{ ...detail, issue: `${detail.issue}; ${shares}` }] })
}

/** Builds the error for a deposit above the vault's limit; its details name `most`, the amount that works, if any. */
export function buildCapError(most: bigint): AppError {
  return new AppError('vault_cap_reached', most > 0n ? { details: [mustBeAtMost('amount', most)] } : {})
}

/** Returns the request field that gives a withdrawal's amount. */
export function nameAmountField(amount: WithdrawalAmount): 'max' | 'amount' | 'shares' {
  if (amount === 'max') return 'max'
  return 'assets' in amount ? 'amount' : 'shares'
}

/** Builds the error for a reverted dry run; the revert reason is the last detail. */
export function buildVaultRefusal(code: ErrorCode, reason: string, details: readonly ErrorDetail[] = []): AppError {
  return new AppError(code, { details: [...details, { field: 'vaultAddress', issue: `refuses: ${reason}` }] })
}
