import type { Address } from 'viem'
import { buildCall, requireValue } from '../../chain/call.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import { buildReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { AppError } from '../../core/errors.ts'
import { precisePrice } from '../erc4626/price.ts'
import { readErc4626WithdrawalTerms } from '../erc4626/withdrawal.ts'
import type { FollowUpRead, VaultCall, WithdrawalAmount, WithdrawalTerms } from '../protocol.ts'
import { buildBalanceError } from '../refusals.ts'
import { erc7540Abi } from './abi.ts'
import type { Erc7540Vault } from './vault.ts'

/**
 * Reads the terms of a redemption request, which is always in shares. The settlement decides the payment, so the
 * payment at the present price is an estimate; null if the price is unknown. The standard does not define how a new
 * request affects a pending one. The simulation of a second request must therefore show that the pending shares grow by
 * its shares.
 */
export function readErc7540WithdrawalTerms(
  vault: Erc7540Vault,
  account: Address,
  amount: WithdrawalAmount,
): ReadPlan<FollowUpRead<WithdrawalTerms>> {
  const { address, shareToken, isDepositAsync, isRedemptionAsync, cancelsRedemptions } = vault
  if (!isRedemptionAsync) {
    return readErc4626WithdrawalTerms(vault, account, amount, buildCall(address, erc7540Abi, 'maxMint', [account]))
  }
  const price = precisePrice(vault)
  const assets = amount !== 'max' && 'assets' in amount ? amount.assets : undefined
  const calls = {
    balance: buildCall(shareToken, erc20Abi, 'balanceOf', [account]),
    maxMint: buildCall(address, erc7540Abi, 'maxMint', [account]),
    maxRedeem: buildCall(address, erc7540Abi, 'maxRedeem', [account]),
    pending: buildCall(address, erc7540Abi, 'pendingRedeemRequest', [0n, account]),
    isCancelling: buildCall(address, erc7540Abi, 'pendingCancelRedeemRequest', [0n, account]),
    cancelled: buildCall(address, erc7540Abi, 'claimableCancelRedeemRequest', [0n, account]),
    price: price.call,
    shares: buildCall(address, erc7540Abi, 'convertToShares', [assets ?? 0n]),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => async (): Promise<WithdrawalTerms> => {
    const inWallet = requireValue(answers.balance)
    const unclaimed = isDepositAsync ? requireValue(answers.maxMint) : 0n
    const pending = requireValue(answers.pending)
    const unsettled = new AppError('previous_withdrawal_request_not_settled')
    // The vault takes no redemption request while a cancellation is pending (EIP-7887).
    if (cancelsRedemptions && answers.isCancelling) throw unsettled
    const worth = answers.price === undefined ? undefined : price.worth(answers.price)
    const all = inWallet + unclaimed
    const shares = assets === undefined ? sharesIn(amount, all) : sharesFor(assets, answers.shares, worth)
    if (shares === 0n || shares > all) {
      // The pending shares were read under id 0. Vaults that give each request its own id report 0 there, so 0 counts
      // as unknown.
      const waiting = pending > 0n ? pending : undefined
      const balances = {
        ...{ inWallet, unclaimed, pending: waiting, claimable: requireValue(answers.maxRedeem) },
        ...(cancelsRedemptions && { cancelled: requireValue(answers.cancelled) }),
      }
      throw buildBalanceError(amount, balances, assets === undefined ? all : worth?.(all))
    }
    const request: VaultCall = { name: 'requestRedeem', amount: shares }
    const value = worth?.(shares) ?? null
    return {
      steps: shares > inWallet ? [{ name: 'mint', amount: unclaimed }, request] : [request],
      shares,
      assets: value,
      value,
      haircut: 0n,
      claimedAssets: 0n,
      ...(pending > 0n && {
        proof: { call: calls.pending, rise: shares, refusal: unsettled },
      }),
    }
  })
}

function sharesIn(amount: WithdrawalAmount, all: bigint): bigint {
  return amount !== 'max' && 'shares' in amount ? amount.shares : all
}

/**
 * Returns the minimum number of shares that is worth these assets at the present price. Throws `withdrawal_refused` if the price is
 * unknown.
 */
function sharesFor(
  assets: bigint,
  shares: bigint | undefined,
  worth: ((shares: bigint) => bigint) | undefined,
): bigint {
  if (shares === undefined || worth === undefined) {
    const issue = 'cannot be converted to shares, because the vault reports no price now: give shares, or max'
    throw new AppError('withdrawal_refused', { details: [{ field: 'amount', issue }] })
  }
  return worth(shares) < assets ? shares + 1n : shares
}
