import { requireValue } from '../../chain/call.ts'
import { AppError } from '../../core/errors.ts'
import { buildCapError } from '../refusals.ts'
import { type LagoonAccount, type LagoonState, NO_CAP } from './state.ts'

/** Returns the assets that the vault can take until it reaches its cap. The amount is below zero above the cap, undefined without a cap. */
export function computeLagoonRoom({ maxCap, vaultState }: LagoonState): bigint | undefined {
  if (maxCap === undefined || maxCap === NO_CAP) return undefined
  return maxCap - requireValue(vaultState.totalAssets) - requireValue(vaultState.pendingDeposits)
}

/**
 * Returns the name of the call that takes a deposit of `amount`, now and up to the time `until` in seconds since 1970.
 * Throws an AppError if the vault refuses the deposit.
 */
export function chooseLagoonDeposit(
  state: LagoonState,
  { pendingAssets, lastDepositRequestId, allowed, payerAllowed }: LagoonAccount,
  amount: bigint,
  until = 0n,
): 'requestDeposit' | 'syncDeposit' {
  const { generation, lifecycle, syncModeTakesDeposits, totalAssetsExpiration = 0n, vaultState } = state
  if (requireValue(vaultState.paused)) throw new AppError('vault_is_paused')
  if (generation === 'unknown') throw new AppError('unsupported_vault_version')
  if (lifecycle !== 'open') throw new AppError('vault_is_closed')

  // The vault takes only `syncDeposit` until its valuation expires, and only `requestDeposit` afterwards.
  const synchronous = requireValue(vaultState.isTotalAssetsValid)
  if (synchronous && !syncModeTakesDeposits) throw new AppError('deposits_are_not_open')
  // A request's id is that of its epoch, which the vault's next valuation ends. A pending request can be increased only
  // in its own epoch.
  if (!synchronous && requireValue(pendingAssets) > 0n && lastDepositRequestId !== vaultState.depositEpochId) {
    throw new AppError('previous_deposit_request_not_settled')
  }
  const room = computeLagoonRoom(state)
  if (room !== undefined && amount > room) throw buildCapError(room)
  if (allowed === false) throw new AppError('depositor_not_allowed')
  if (payerAllowed === false) throw new AppError('cross_chain_not_available')
  // A deposit from another chain could arrive after the valuation expires.
  if (synchronous && totalAssetsExpiration < until) throw new AppError('cross_chain_not_available')
  return synchronous ? 'syncDeposit' : 'requestDeposit'
}
