import { AppError, type ErrorCode, type ErrorDetail, mustBeAtMost } from '../errors.ts'
import type { WithdrawalAmount } from './protocol.ts'

/** What an account has of a vault's shares, in the smallest unit, by where they are. */
export type ShareBalances = {
  readonly inWallet: bigint
  /** Of settled deposits; undefined where the vault does not tell. */
  readonly unclaimed: bigint | undefined
  /** In redemption requests that are not settled, undefined where the vault does not tell, and in those that are. */
  readonly pending: bigint | undefined
  readonly claimable: bigint
  /** In cancelled redemption requests; absent where the vault cancels none. */
  readonly cancelled?: bigint
}

/**
 * The refusal of an amount that the account does not have; its details tell apart where its shares are, and the `most` that
 * works now, in the smallest unit of what was asked for, where that is known.
 */
export function exceedsBalance(
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
  const field = fieldOf(amount)
  const asked = amount === 'max' ? 0n : 'assets' in amount ? amount.assets : amount.shares
  // A vault that forgets its fees tells as much as was asked for, or more.
  if (most <= 0n || most >= asked)
    return new AppError('amount_exceeds_balance', { details: [{ field, issue: shares }] })
  const detail = mustBeAtMost(field, most)
  return new AppError('amount_exceeds_balance', { details: [{ ...detail, issue: `${detail.issue}; ${shares}` }] })
}

/** The refusal of a deposit above what the vault takes; its details tell the `most` of the request's own that it does, where there is any. */
export function capReached(most: bigint): AppError {
  return new AppError('vault_cap_reached', most > 0n ? { details: [mustBeAtMost('amount', most)] } : {})
}

/** The field of a request that says how much is to be withdrawn. */
export function fieldOf(amount: WithdrawalAmount): 'max' | 'amount' | 'shares' {
  if (amount === 'max') return 'max'
  return 'assets' in amount ? 'amount' : 'shares'
}

/** The refusal of what reverted in its dry run, for this reason; its details have that last. */
export function refusedByVault(code: ErrorCode, reason: string, details: readonly ErrorDetail[] = []): AppError {
  return new AppError(code, { details: [...details, { field: 'vaultAddress', issue: `refuses: ${reason}` }] })
}
