import type { Address } from 'viem'
import { buildCall, requireValue } from '../../chain/call.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import { buildReadPlan, joinReadPlans, mapReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { sum } from '../../core/bigint.ts'
import { precisePrice } from '../erc4626/price.ts'
import { type AccountSnapshot, type CancelledRequest, NO_REQUESTS, zeroIfPaysNothing } from '../protocol.ts'
import { erc7540Abi } from './abi.ts'
import { type RequestState, readOpenRequests } from './requests.ts'
import type { Erc7540Vault } from './vault.ts'

/**
 * Reads an account. The vault reports claimable amounts in total, but pending amounts by request id. Some vaults report
 * all requests under id 0. If nothing is open under id 0, the ids come from the account's ledger entries, which takes
 * one more RPC round trip.
 */
export function readErc7540Account(vault: Erc7540Vault, account: Address): ReadPlan<AccountSnapshot> {
  const { address, shareToken, shareDecimals, isDepositAsync, isRedemptionAsync } = vault
  const price = precisePrice(vault)
  const calls = {
    shares: buildCall(shareToken, erc20Abi, 'balanceOf', [account]),
    maxDeposit: buildCall(address, erc7540Abi, 'maxDeposit', [account]),
    maxMint: buildCall(address, erc7540Abi, 'maxMint', [account]),
    maxRedeem: buildCall(address, erc7540Abi, 'maxRedeem', [account]),
    maxWithdraw: buildCall(address, erc7540Abi, 'maxWithdraw', [account]),
    sharePrice: buildCall(address, erc7540Abi, 'convertToAssets', [10n ** BigInt(shareDecimals)]),
    precisePrice: price.call,
  }
  const own = buildReadPlan({ address, slots: {}, calls }, ({ answers }) => answers)
  const requests = joinReadPlans(
    readOpenRequests(vault, account, 'deposit'),
    readOpenRequests(vault, account, 'withdrawal'),
  )
  return mapReadPlan(joinReadPlans(own, requests), ([answers, [deposits, redemptions]]) => ({
    shares: () => requireValue(answers.shares),
    deposits: async (reader, at, listEntries) => {
      if (!isDepositAsync) return NO_REQUESTS.deposits(reader, at, listEntries)
      const open = await deposits(reader, at, listEntries)
      return {
        pendingAssets: sum(open.map(({ pending }) => pending)),
        claimableAssets: zeroIfPaysNothing(requireValue(answers.maxDeposit), requireValue(answers.maxMint)),
        claimableShares: requireValue(answers.maxMint),
        cancelledDeposits: cancelledIn(open),
        depositEpochId: null,
        lastDepositRequestId: null,
        isTotalAssetsValid: null,
      }
    },
    redemptions: async (reader, at, listEntries) => {
      if (!isRedemptionAsync) return NO_REQUESTS.redemptions(reader, at, listEntries)
      const open = await redemptions(reader, at, listEntries)
      return {
        pendingRedeemShares: sum(open.map(({ pending }) => pending)),
        claimableRedeemShares: zeroIfPaysNothing(requireValue(answers.maxRedeem), requireValue(answers.maxWithdraw)),
        claimableRedeemAssets: requireValue(answers.maxWithdraw),
        cancelledRedemptions: cancelledIn(open),
        redeemEpochId: null,
        lastRedeemRequestId: null,
      }
    },
    price: () => ({
      sharePrice: requireValue(answers.sharePrice),
      worth: price.worth(requireValue(answers.precisePrice)),
    }),
  }))
}

function cancelledIn(requests: readonly RequestState[]): CancelledRequest[] {
  return requests.flatMap(({ requestId, cancelled }) => (cancelled > 0n ? [{ requestId, amount: cancelled }] : []))
}
