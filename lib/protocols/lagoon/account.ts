import { requireValue } from '../../chain/call.ts'
import { type AccountSnapshot, zeroIfPaysNothing } from '../protocol.ts'
import { type LagoonSnapshot, readClaimableShares, readRedeemableAssets, virtualShares } from './state.ts'
import type { LagoonVault } from './vault.ts'

/** Builds an account's snapshot from the values that were read from the vault's contract. */
export function buildLagoonSnapshot(vault: LagoonVault, snapshot: LagoonSnapshot): AccountSnapshot {
  const { account } = snapshot
  const { vaultState, generation } = snapshot.state
  return {
    shares: () => requireValue(account.shares),
    deposits: async (reader, at) => {
      const claimableShares = await readClaimableShares(reader, vault, snapshot, at)
      return {
        pendingAssets: requireValue(account.pendingAssets),
        claimableAssets: zeroIfPaysNothing(requireValue(account.claimableAssets), claimableShares),
        claimableShares,
        cancelledDeposits: [],
        depositEpochId: vaultState.depositEpochId,
        lastDepositRequestId: generation === 'unknown' ? null : account.lastDepositRequestId,
        isTotalAssetsValid: vaultState.isTotalAssetsValid,
      }
    },
    redemptions: async (reader, at) => {
      const claimableRedeemAssets = await readRedeemableAssets(reader, vault, snapshot, at)
      return {
        pendingRedeemShares: requireValue(account.pendingRedeemShares),
        claimableRedeemShares: zeroIfPaysNothing(requireValue(account.redeemableShares), claimableRedeemAssets),
        claimableRedeemAssets,
        cancelledRedemptions: [],
        redeemEpochId: vaultState.redeemEpochId,
        lastRedeemRequestId: generation === 'unknown' ? null : account.lastRedeemRequestId,
      }
    },
    price() {
      const assets = requireValue(vaultState.totalAssets) + 1n
      const supply = requireValue(vaultState.totalSupply) + virtualShares(vault)
      return { sharePrice: requireValue(vaultState.sharePrice), worth: (shares) => (shares * assets) / supply }
    },
  }
}
