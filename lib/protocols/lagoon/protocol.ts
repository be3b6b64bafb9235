import { required } from '../../chain/call.ts'
import { mapReadPlan } from '../../chain/reader.ts'
import type { LagoonVault } from '../../vaults/vault.ts'
import type { Protocol } from '../protocol.ts'
import { liveLagoonAccount } from './account.ts'
import { lagoonBooks } from './ledger.ts'
import { chooseLagoonDeposit } from './operations.ts'
import { lagoonAccount, lagoonState, NO_CAP, readClaimableShares } from './state.ts'

/** Lagoon v0 vaults (ERC-7540), versions 0.1 to 0.6 (https://docs.lagoon.finance). */
export const lagoon: Protocol<LagoonVault> = {
  type: 'async',
  describe: (vault) =>
    mapReadPlan(lagoonState(vault), ({ generation, version, state, maxCap }) => {
      const { safe, valuationManager, pendingSilo } = state
      if (generation === 'unknown' || !safe || !valuationManager || !pendingSilo) {
        const found = version ? `its version is ${version}` : 'it has no version'
        throw new Error(`${vault.address} takes asynchronous deposits, but is no Lagoon vault of 0.1 to 0.6: ${found}.`)
      }
      return {
        kind: 'lagoon',
        safe,
        valuationManager,
        pendingSilo,
        hasCap: maxCap !== undefined && maxCap !== NO_CAP,
        version: version ?? '0.1 or 0.2',
      }
    }),
  overview: (vault) =>
    mapReadPlan(lagoonState(vault), ({ state, generation, maxCap }) => ({
      sharePrice: state.sharePrice ?? undefined,
      hasCap: generation === 'unknown' ? undefined : maxCap !== undefined && maxCap !== NO_CAP,
      state,
    })),
  account: liveLagoonAccount,
  deposits: {
    operations: ['requestDeposit', 'syncDeposit'],
    terms: (vault, user, payer) =>
      mapReadPlan(lagoonAccount(vault, user, payer), ({ vault, account }) => ({
        allowance: account.allowance,
        choose: (amount, until) => chooseLagoonDeposit(vault, account, amount, until),
      })),
  },
  requests: (vault, user) =>
    mapReadPlan(lagoonAccount(vault, user), (value) => {
      const { account, vault: of } = value
      return {
        pendingAssets: account.pendingAssets,
        claimableAssets: account.claimableAssets,
        shares: account.shares,
        isPaused: () => required(of.state.paused),
        isAllowed: account.allowed,
        depositEpochId: of.state.depositEpochId,
        isTotalAssetsValid: of.state.isTotalAssetsValid,
        readClaimableShares: (reader, at) => readClaimableShares(reader, vault, value, at),
      }
    }),
  books: lagoonBooks,
}
