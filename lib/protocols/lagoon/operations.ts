import { requireValue } from '../../chain/call.ts'
import { AppError } from '../../core/errors.ts'
import { buildCapError } from '../refusals.ts'
import { type LagoonAccount, type LagoonState, NO_CAP } from './state.ts'

/** Returns the assets that the vault can take until it reaches its cap. The amount is below zero above the cap, undefined without a cap. */
export function computeLagoonRoom({ maxCap, state }: LagoonState): bigint | undefined {
  if (maxCap === undefined || maxCap === NO_CAP) return undefined
  return maxCap - requireValue(state.totalAssets) - requireValue(state.pendingDeposits)
}

/**
 * Returns the name of the call that takes a deposit of `amount`, now and up to the time `until` in seconds since 1970.
 * Throws an AppError if the vault refuses the deposit.
 */
export function chooseLagoonDeposit(
  vault: LagoonState,
  { pendingAssets, lastDepositRequestId, allowed, payerAllowed }: LagoonAccount,
  amount: bigint,
  until = 0n,
): 'requestDeposit' | 'syncDeposit' {
  const { generation, lifecycle, syncModeTakesDeposits, totalAssetsExpiration = 0n, state } = vault
  if (requireValue(state.paused)) throw new AppError('vault_is_paused')
  if (generation === 'unknown') throw new AppError('unsupported_vault_version')
  if (lifecycle !== 'open') throw new AppError('vault_is_closed')

  const synchronous = requireValue(state.isTotalAssetsValid)
  if (synchronous && !syncModeTakesDeposits) throw new AppError('deposits_are_not_open')
  if (!synchronous && requireValue(pendingAssets) > 0n && lastDepositRequestId !== state.depositEpochId) {
    throw new AppError('previous_deposit_request_not_settled')
  }
  const room = computeLagoonRoom(vault)
  if (room !== undefined && amount > room) throw buildCapError(room)
  if (allowed === false) throw new AppError('depositor_not_allowed')
  if (payerAllowed === false) throw new AppError('cross_chain_not_available')
  // The vault takes only `syncDeposit` until its valuation expires, and only `requestDeposit` afterwards. A deposit
  // from another chain could arrive after the expiry.
  if (synchronous && totalAssetsExpiration < until) throw new AppError('cross_chain_not_available')
  return synchronous ? 'syncDeposit' : 'requestDeposit'
}
