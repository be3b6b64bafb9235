import { AppError, type ErrorCode, type ErrorDetail } from '../errors.ts'

/** What an account has of a vault's shares, in the smallest unit, by where they are. */
export type ShareBalances = {
  readonly inWallet: bigint
  /** Of settled deposits; undefined where the vault does not tell. */
  readonly unclaimed: bigint | undefined
  /** In redemption requests that are not settled, undefined where the vault does not tell, and in those that are. */
  readonly pending: bigint | undefined
  readonly claimable: bigint
}

/** The refusal of an amount that the account does not have; its details tell the balances apart. */
export function exceedsBalance({ inWallet, unclaimed, pending, claimable }: ShareBalances): AppError {
  const parts = [
    `${inWallet} in the wallet`,
    `${unclaimed ?? 'not known'} of settled deposits not claimed`,
    `${pending ?? 'not known'} in redemptions not settled`,
    `${claimable} in settled redemptions not claimed`,
  ]
  return new AppError('amount_exceeds_balance', {
    details: [{ field: 'shares', issue: `the user has ${parts.join(', ')}` }],
  })
}

/** The refusal of what reverted in its dry run, for this reason; its details have that last. */
export function refusedByVault(code: ErrorCode, reason: string, details: readonly ErrorDetail[] = []): AppError {
  return new AppError(code, { details: [...details, { field: 'vaultAddress', issue: `refuses: ${reason}` }] })
}
