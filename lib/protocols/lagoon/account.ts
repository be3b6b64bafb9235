import type { Address } from 'viem'
import { call, required } from '../../chain/call.ts'
import {
  type ChainReader,
  joinReadPlans,
  mapReadPlan,
  type ReadPlan,
  type Reads,
  readPlan,
} from '../../chain/reader.ts'
import type { LagoonVault } from '../../vaults/vault.ts'
import { lagoonAbi } from '../abi.ts'
import type { AccountReading, LiveAccount } from '../protocol.ts'
import { lagoonAccount, lastRedeemRequestSlot, readSettled, tellsAmount, virtualShares } from './state.ts'

/** What an account has in a Lagoon vault. Its parsing throws `upstream_bad_answer` when the vault does not tell an amount. */
export function liveLagoonAccount(vault: LagoonVault, user: Address): ReadPlan<AccountReading> {
  const { address } = vault
  const calls = {
    pendingRedeemShares: call(address, lagoonAbi, 'pendingRedeemRequest', [0n, user]),
    redeemableShares: call(address, lagoonAbi, 'claimableRedeemRequest', [0n, user]),
    maxWithdraw: call(address, lagoonAbi, 'maxWithdraw', [user]),
  }
  const slots = { lastRedeemRequestId: lastRedeemRequestSlot(user) }
  const more = readPlan({ address, slots, calls } satisfies Reads, (reading) => reading)
  return mapReadPlan(
    joinReadPlans(lagoonAccount(vault, user), more),
    ([{ account, vault: lagoon }, { words, answers }]) => {
      const { state, version, generation } = lagoon
      const redeemableShares = required(answers.redeemableShares)
      const assets = required(state.totalAssets) + 1n
      const supply = required(state.totalSupply) + virtualShares(vault)
      // Version 0.1, which has no version(), means the worth of the wallet by it.
      const maxWithdraw = version === undefined ? undefined : answers.maxWithdraw
      const live: LiveAccount = {
        pendingAssets: account.pendingAssets,
        claimableAssets: account.claimableAssets,
        claimableShares: account.claimableAssets === 0n ? 0n : (account.claimableShares ?? 0n),
        shares: account.shares,
        pendingRedeemShares: required(answers.pendingRedeemShares),
        // A closed vault counts the shares in the wallet, which need no request any more.
        claimableRedeemAssets: redeemableShares > 0n && tellsAmount(maxWithdraw, redeemableShares) ? maxWithdraw : 0n,
        depositEpochId: state.depositEpochId ?? null,
        isTotalAssetsValid: state.isTotalAssetsValid ?? null,
        sharePrice: required(state.sharePrice),
        worth: (shares) => (shares * assets) / supply,
      }
      const tellsAll =
        (account.claimableAssets === 0n || account.claimableShares !== undefined) &&
        (redeemableShares === 0n || tellsAmount(maxWithdraw, redeemableShares))
      if (tellsAll) return { account: live }

      const { claimableAssets, lastDepositRequestId: depositRequestId } = account
      const redeemRequestId = Number(words.lastRedeemRequestId & (2n ** 40n - 1n))
      const settled = { generation, claimableAssets, depositRequestId, redeemableShares, redeemRequestId }
      const complete = async (reader: ChainReader, at: bigint): Promise<LiveAccount> => {
        const { claimableShares, redeemableAssets } = await readSettled(reader, vault, settled, at)
        return { ...live, claimableShares, claimableRedeemAssets: redeemableAssets }
      }
      return { account: live, complete }
    },
  )
}
