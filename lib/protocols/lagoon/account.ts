import { required } from '../../chain/call.ts'
import { type AccountReading, worthClaiming } from '../protocol.ts'
import { type LagoonReading, readClaimableShares, readRedeemableAssets, virtualShares } from './state.ts'
import type { LagoonVault } from './vault.ts'

/** Builds the read of an account. */
export function lagoonAccountReading(vault: LagoonVault, reading: LagoonReading): AccountReading {
  const { account } = reading
  const { state, generation } = reading.vault
  return {
    shares: () => required(account.shares),
    deposits: async (reader, at) => {
      const claimableShares = await readClaimableShares(reader, vault, reading, at)
      return {
        pendingAssets: required(account.pendingAssets),
        claimableAssets: worthClaiming(required(account.claimableAssets), claimableShares),
        claimableShares,
        cancelledDeposits: [],
        depositEpochId: state.depositEpochId,
        lastDepositRequestId: generation === 'unknown' ? null : account.lastDepositRequestId,
        isTotalAssetsValid: state.isTotalAssetsValid,
      }
    },
    redemptions: async (reader, at) => {
      const claimableRedeemAssets = await readRedeemableAssets(reader, vault, reading, at)
      return {
        pendingRedeemShares: required(account.pendingRedeemShares),
        claimableRedeemShares: worthClaiming(required(account.redeemableShares), claimableRedeemAssets),
        claimableRedeemAssets,
        cancelledRedemptions: [],
        redeemEpochId: state.redeemEpochId,
        lastRedeemRequestId: generation === 'unknown' ? null : account.lastRedeemRequestId,
      }
    },
    price() {
      const assets = required(state.totalAssets) + 1n
      const supply = required(state.totalSupply) + virtualShares(vault)
      return { sharePrice: required(state.sharePrice), worth: (shares) => (shares * assets) / supply }
    },
  }
}
