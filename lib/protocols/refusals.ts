import { AppError, buildTooLargeDetail, type ErrorCode, type ErrorDetail } from '../core/errors.ts'
import type { WithdrawalAmount } from './protocol.ts'

/** Shares of an account by their location, in the smallest unit; undefined if the vault does not report them. */
export type ShareBalances = {
  readonly inWallet: bigint
  /** Shares of settled deposits that the account has not claimed. */
  readonly unclaimed: bigint | undefined
  /** Shares in redemption requests: `pending` ones are not settled, `claimable` ones are. */
  readonly pending: bigint | undefined
  readonly claimable: bigint
  /** Shares of cancelled redemptions that have not been returned; absent if the vault has no cancellations. */
  readonly cancelled?: bigint
}

/**
 * Builds the error for a withdrawal of more than the account has. Its details list where the account's shares are.
 * `most` is the amount that works now, in the unit of `amount`; 0 means unknown.
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
  // A maximum that is not below the requested amount would not help the user, so the error omits it. Some vaults report
  // such a maximum, because they ignore fees.
  if (most <= 0n || most >= requested)
    return new AppError('amount_exceeds_balance', { details: [{ field, issue: shares }] })
  const detail = buildTooLargeDetail(field, most)
  return new AppError('amount_exceeds_balance', { details: [{ ...detail, issue: `${detail.issue}; ${shares}` }] })
}

/**
 * Builds the error for a deposit above the vault's limit. `most` is the amount that the vault still takes; the error
 * omits it if it is 0 or less.
 */
export function buildCapError(most: bigint): AppError {
  return new AppError('vault_cap_reached', most > 0n ? { details: [buildTooLargeDetail('amount', most)] } : {})
}

/** Returns the name of the request field that contains a withdrawal's amount. */
export function nameAmountField(amount: WithdrawalAmount): 'max' | 'amount' | 'shares' {
  if (amount === 'max') return 'max'
  return 'assets' in amount ? 'amount' : 'shares'
}

/** Builds the error for a simulation that reverted. The last detail of the error is the revert reason. */
export function buildVaultRefusal(code: ErrorCode, reason: string, details: readonly ErrorDetail[] = []): AppError {
  return new AppError(code, { details: [...details, { field: 'vaultAddress', issue: `refuses: ${reason}` }] })
}
