import { required } from '../../chain/call.ts'
import { AppError } from '../../errors.ts'
import type { LagoonAccount, LagoonState } from './state.ts'

/**
 * The one call that takes a deposit of `amount` into the vault now, and until a moment in seconds since 1970 where one is
 * given. Throws the AppError that says why none does.
 */
export function chooseLagoonDeposit(
  { generation, lifecycle, maxCap, syncModeTakesDeposits, totalAssetsExpiration = 0n, state }: LagoonState,
  { pendingAssets, lastDepositRequestId, allowed, payerAllowed }: LagoonAccount,
  amount: bigint,
  until = 0n,
): 'requestDeposit' | 'syncDeposit' {
  if (required(state.paused)) throw new AppError('vault_is_paused')
  if (generation === 'unknown') throw new AppError('unsupported_vault_version')
  if (lifecycle !== 'open') throw new AppError('vault_is_closed')

  const synchronous = required(state.isTotalAssetsValid)
  if (synchronous && !syncModeTakesDeposits) throw new AppError('deposits_are_not_open')
  if (!synchronous && required(pendingAssets) > 0n && lastDepositRequestId !== state.depositEpochId) {
    throw new AppError('previous_deposit_request_not_settled')
  }
  if (maxCap !== undefined && required(state.totalAssets) + required(state.pendingDeposits) + amount > maxCap) {
    throw new AppError('vault_cap_reached')
  }
  if (allowed === false) throw new AppError('depositor_not_allowed')
  if (payerAllowed === false) throw new AppError('cross_chain_not_available')
  // After the valuation's end the vault would refuse it, before it any other.
  if (synchronous && totalAssetsExpiration < until) throw new AppError('cross_chain_not_available')
  return synchronous ? 'syncDeposit' : 'requestDeposit'
}
