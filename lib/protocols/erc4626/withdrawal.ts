import type { Address } from 'viem'
import { buildCall, type ContractCall, requireValue } from '../../chain/call.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import { buildReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { min } from '../../core/bigint.ts'
import { AppError, buildTooLargeDetail } from '../../core/errors.ts'
import { vaultAbi } from '../abi.ts'
import type { FollowUpRead, VaultCall, WithdrawalAmount, WithdrawalTerms } from '../protocol.ts'
import { buildBalanceError, buildVaultRefusal } from '../refusals.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'
import { precisePrice } from './price.ts'

/**
 * Reads the terms of a synchronous withdrawal. Only the simulation shows if the vault pays. Reported limits only
 * explain a refusal, because some vaults always report 0 (Morpho Vault V2). `maxMint` is the call for the shares of
 * settled, unclaimed deposits. A withdrawal that needs unclaimed shares claims all of them first.
 */
export function readErc4626WithdrawalTerms(
  vault: TokenizedVault,
  account: Address,
  amount: WithdrawalAmount,
  maxMint?: ContractCall<bigint>,
): ReadPlan<FollowUpRead<WithdrawalTerms>> {
  const { address, shareToken } = vault
  const price = precisePrice(vault)
  const isOfAssets = amount !== 'max' && 'assets' in amount
  const calls = {
    paused: buildCall(address, vaultAbi, 'paused', []),
    balance: buildCall(shareToken, erc20Abi, 'balanceOf', [account]),
    price: price.call,
    // The result of a preview includes fees and ignores limits (EIP-4626).
    previewWithdraw: buildCall(address, vaultAbi, 'previewWithdraw', [isOfAssets ? amount.assets : 0n]),
    previewRedeem: buildCall(address, vaultAbi, 'previewRedeem', [
      amount !== 'max' && !isOfAssets ? amount.shares : 0n,
    ]),
    limit: buildCall(address, vaultAbi, isOfAssets ? 'maxWithdraw' : 'maxRedeem', [account]),
    ...(maxMint && { maxMint }),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => async () => {
    const worth = answers.price === undefined ? () => null : price.worth(answers.price)
    const inWallet = requireValue(answers.balance)
    const unclaimed = maxMint ? requireValue<bigint>(answers.maxMint) : 0n
    const balance = inWallet + unclaimed
    // The amount `max` redeems all shares. A withdrawal of their value in assets would leave some shares, or fail if
    // the price moves.
    const shares = isOfAssets ? (answers.previewWithdraw ?? null) : amount === 'max' ? balance : amount.shares
    if (balance === 0n || (shares !== null && shares > balance)) {
      const most = isOfAssets ? answers.limit : min(answers.limit ?? 0n, balance)
      throw buildBalanceError(amount, { inWallet, unclaimed, pending: 0n, claimable: 0n }, most)
    }
    const isClaimed = shares !== null && shares > inWallet
    // The reported limit counts only shares in the wallet. It does not apply if the withdrawal first claims other
    // shares.
    const limit = isClaimed ? undefined : answers.limit
    const requested = isOfAssets ? amount.assets : requireValue(shares)
    const value = shares === null ? null : worth(shares)
    // `withdraw` rounds up the shares that it takes. The rounding difference is not a fee.
    const isRounding = isOfAssets && value !== null && value - requested <= (worth(1n) ?? 0n) + 1n
    const preview = amount === 'max' ? undefined : answers.previewRedeem
    const payment: VaultCall = { name: isOfAssets ? 'withdraw' : 'redeem', amount: requested }
    return {
      steps: isClaimed ? [{ name: 'mint', amount: unclaimed }, payment] : [payment],
      shares,
      assets: isOfAssets ? amount.assets : (preview ?? value),
      value: isRounding ? requested : value,
      haircut: 0n,
      claimedAssets: 0n,
      refusal: (reason) => {
        if (answers.paused) return new AppError('vault_is_paused')
        if (reason === undefined || limit === undefined || limit >= requested) return undefined
        const field = isOfAssets ? 'amount' : 'shares'
        return buildVaultRefusal('not_enough_liquidity', reason, limit > 0n ? [buildTooLargeDetail(field, limit)] : [])
      },
    }
  })
}
