import { max, min } from '../../core/bigint.ts'
import { LAST_SECOND, toDate } from '../../core/time.ts'
import type { DepositTerms } from '../protocol.ts'
import { type ContractTerms, formatPercent } from '../terms.ts'
import { computeLagoonRoom } from './deposit.ts'
import { feeOn, type LagoonState, virtualShares } from './state.ts'
import type { LagoonVault } from './vault.ts'

/**
 * Builds a vault's terms. `inSafe` is the amount that the vault can take from its safe, the account that holds its
 * assets; undefined if unknown.
 */
export function buildLagoonTerms(state: LagoonState, inSafe: bigint | undefined): ContractTerms {
  const { generation, lifecycle, rates, totalAssetsExpiration = 0n, valuedAt, vaultState } = state
  const isValid = vaultState.isTotalAssetsValid === true
  const paysAtOnce = lifecycle === 'closed' || (isValid && state.syncModePaysRedemptions)
  return {
    entry: isValid && state.syncModeTakesDeposits ? 'instant' : 'request',
    exit: paysAtOnce ? 'instant' : 'request',
    fees: rates
      ? {
          management: formatPercent(rates.management),
          performance: formatPercent(rates.performance),
          entry: formatPercent(rates.entry),
          exit: formatPercent(rates.exit),
          haircut: formatPercent(rates.haircut),
        }
      : {},
    room: generation === 'unknown' ? undefined : roomIn(state),
    liquidity: liquidityIn(state, paysAtOnce, inSafe),
    valuation:
      valuedAt === undefined
        ? undefined
        : {
            at: valuedAt > 0n ? toDate(min(valuedAt, LAST_SECOND)) : null,
            validUntil: isValid ? toDate(min(totalAssetsExpiration, LAST_SECOND)) : null,
          },
  }
}

/** Returns functions that estimate a deposit at the present price. `sharesFor` subtracts the entry fee from the shares. */
export function estimateLagoonDeposit(
  vault: LagoonVault,
  { rates, vaultState }: LagoonState,
): Pick<DepositTerms, 'sharesFor' | 'worth'> {
  const { totalAssets, totalSupply } = vaultState
  if (totalAssets === null || totalSupply === null || !rates) return { sharesFor: () => null, worth: () => null }
  const [assets, supply] = [totalAssets + 1n, totalSupply + virtualShares(vault)]
  return {
    sharesFor(amount) {
      const shares = (amount * supply) / assets
      return shares - feeOn(shares, rates.entry)
    },
    worth: (shares) => (shares * assets) / supply,
  }
}

/** Returns the amount of assets that the vault still accepts: 0 if paused or closed, null without a cap, undefined if unknown. */
function roomIn(state: LagoonState): bigint | null | undefined {
  const { paused, totalAssets, pendingDeposits } = state.vaultState
  if (paused || state.lifecycle !== 'open') return 0n
  if (totalAssets === null || pendingDeposits === null) return undefined
  const room = computeLagoonRoom(state)
  return room === undefined ? null : max(room, 0n)
}

/**
 * Returns the amount of assets that can be withdrawn now; null without a limit, undefined if unknown. A closed vault
 * holds the assets of all its shares. An open vault pays from its safe, which may also hold other funds.
 */
function liquidityIn({ lifecycle, vaultState }: LagoonState, paysAtOnce: boolean, inSafe: bigint | undefined) {
  if (vaultState.paused || !paysAtOnce) return 0n
  if (lifecycle === 'closed') return null
  return inSafe === undefined || vaultState.totalAssets === null ? undefined : min(inSafe, vaultState.totalAssets)
}
