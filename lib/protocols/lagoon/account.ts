import { required } from '../../chain/call.ts'
import type { ChainReader } from '../../chain/reader.ts'
import type { LiveAccount } from '../protocol.ts'
import { type LagoonReading, readSettled, virtualShares } from './state.ts'
import type { LagoonVault } from './vault.ts'

/**
 * What an account has, as read at this block. Costs further round trips where the vault does not tell what is settled.
 * Throws `upstream_bad_answer` when it does not tell another amount, and `upstream_*`.
 */
export async function liveLagoonAccount(
  vault: LagoonVault,
  { vault: { state, generation }, account }: LagoonReading,
  reader: ChainReader,
  at: bigint,
): Promise<LiveAccount> {
  const { pendingAssets, claimableAssets, shares, claimableShares, redeemableAssets } = account
  const assets = required(state.totalAssets) + 1n
  const supply = required(state.totalSupply) + virtualShares(vault)
  const live = {
    pendingAssets,
    claimableAssets,
    shares,
    pendingRedeemShares: required(account.pendingRedeemShares),
    claimableRedeemShares: required(account.redeemableShares),
    depositEpochId: state.depositEpochId,
    redeemEpochId: state.redeemEpochId,
    lastRedeemRequestId: account.lastRedeemRequestId,
    isTotalAssetsValid: state.isTotalAssetsValid,
    sharePrice: required(state.sharePrice),
    worth: (of: bigint) => (of * assets) / supply,
  }
  const settled =
    claimableShares === undefined || redeemableAssets === undefined
      ? await readSettled(reader, vault, generation, account, at)
      : { claimableShares, redeemableAssets }
  return { ...live, claimableShares: settled.claimableShares, claimableRedeemAssets: settled.redeemableAssets }
}
