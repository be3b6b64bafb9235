import { zeroAddress } from 'viem'
import { requireValue } from '../../chain/call.ts'
import { joinReadPlans, mapReadPlan } from '../../chain/reader.ts'
import type { Protocol } from '../protocol.ts'
import { lagoonAbi } from './abi.ts'
import { buildLagoonSnapshot } from './account.ts'
import { chooseLagoonDeposit, computeLagoonRoom } from './deposit.ts'
import { lagoonBooks } from './ledger.ts'
import { readLagoonCancelTerms, readLagoonClaimTerms } from './requests.ts'
import { NO_CAP, readLagoonAccount, readLagoonState, readTakeableFromSafe } from './state.ts'
import { buildLagoonTerms, estimateLagoonDeposit } from './terms.ts'
import type { LagoonVault } from './vault.ts'
import { readLagoonWithdrawalTerms } from './withdrawal.ts'

/** Protocol of Lagoon v0, versions 0.1 to 0.6 (https://docs.lagoon.finance). */
export const lagoon: Protocol<LagoonVault> = {
  abi: lagoonAbi,
  describe: (vault) =>
    mapReadPlan(readLagoonState(vault), ({ generation, version, vaultState, maxCap, hasLagoonViews }) => {
      const { safe, valuationManager, pendingSilo } = vaultState
      const isKnown = generation !== 'unknown' && pendingSilo !== zeroAddress
      if (!vault.isAsync || !isKnown || !safe || !valuationManager || !pendingSilo) {
        if (hasLagoonViews) return { unknownVersion: `Lagoon ${version ?? 'without a version'}` }
        return `no Lagoon vault of 0.1 to 0.6: ${version ? `its version is ${version}` : 'it has no version'}`
      }
      return {
        protocol: 'lagoon',
        safe,
        valuationManager,
        pendingSilo,
        hasCap: maxCap !== undefined && maxCap !== NO_CAP,
        version: version ?? '0.1 or 0.2',
      }
    }),
  overview: (vault) =>
    mapReadPlan(
      joinReadPlans(readLagoonState(vault), readTakeableFromSafe(vault)),
      ([lagoonState, computeTakeable]) => {
        const { vaultState, generation, maxCap } = lagoonState
        return {
          sharePrice: vaultState.sharePrice ?? undefined,
          hasCap: generation === 'unknown' ? undefined : maxCap !== undefined && maxCap !== NO_CAP,
          terms: buildLagoonTerms(lagoonState, computeTakeable(lagoonState)),
          state: vaultState,
        }
      },
    ),
  roles: ({ safe, valuationManager }) => ({ safe, valuationManager }),
  account: (vault, account) =>
    mapReadPlan(readLagoonAccount(vault, account), (snapshot) => buildLagoonSnapshot(vault, snapshot)),
  depositTerms: (vault, account, _, payer) =>
    mapReadPlan(
      joinReadPlans(readLagoonAccount(vault, account, payer), readTakeableFromSafe(vault)),
      ([snapshot, computeTakeable]) => {
        const { state, account: holder } = snapshot
        return {
          terms: buildLagoonTerms(state, computeTakeable(state)),
          allowance: requireValue(holder.allowance),
          room: () => computeLagoonRoom(state),
          ...estimateLagoonDeposit(vault, state),
          choose: (amount, until) => chooseLagoonDeposit(state, holder, amount, until),
        }
      },
    ),
  withdrawalTerms: readLagoonWithdrawalTerms,
  claimTerms: readLagoonClaimTerms,
  cancelTerms: readLagoonCancelTerms,
  books: lagoonBooks,
}
