import type { Address } from 'viem'
import { buildCall, requireValue } from '../../chain/call.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import { buildReadPlan, joinReadPlans, mapReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { AppError } from '../../core/errors.ts'
import { buildDepositLimitCalls, estimateDeposit, parseLimits, readErc4626DepositTerms } from '../erc4626/deposit.ts'
import { precisePrice, sharePrice, shareValue } from '../erc4626/price.ts'
import type { DepositTerms, Overview, Protocol, VaultCandidate } from '../protocol.ts'
import type { ContractTerms } from '../terms.ts'
import { buildVaultState } from '../vault-state.ts'
import { erc7540Abi } from './abi.ts'
import { readErc7540Account } from './account.ts'
import { erc7540Books } from './ledger.ts'
import { readErc7540CancelTerms, readErc7540ClaimTerms, readErc7540OpenRequest } from './requests.ts'
import type { Erc7540Vault } from './vault.ts'
import { readErc7540WithdrawalTerms } from './withdrawal.ts'

/** ERC-165 interface ids by which a vault reports asynchronous redemptions and cancellations (EIP-7540, EIP-7887). */
const ASYNC_REDEMPTION = '0x620ee8e4'
const CANCELS_DEPOSITS = '0x8bf840e3'
const CANCELS_REDEMPTIONS = '0xe76cffc7'

function readInterfaces(address: Address) {
  const calls = {
    isRedemptionAsync: buildCall(address, erc7540Abi, 'supportsInterface', [ASYNC_REDEMPTION]),
    cancelsDeposits: buildCall(address, erc7540Abi, 'supportsInterface', [CANCELS_DEPOSITS]),
    cancelsRedemptions: buildCall(address, erc7540Abi, 'supportsInterface', [CANCELS_REDEMPTIONS]),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => ({
    isRedemptionAsync: answers.isRedemptionAsync === true,
    cancelsDeposits: answers.cancelsDeposits === true,
    cancelsRedemptions: answers.cancelsRedemptions === true,
  }))
}

type Sides = Pick<Erc7540Vault, 'isDepositAsync' | 'isRedemptionAsync'>

/**
 * Builds a vault's terms. `room`, the deposit limit, applies only to instant deposits, because the standard defines no
 * limit for requests.
 */
function termsOf({ isDepositAsync, isRedemptionAsync }: Sides, room: bigint | null | undefined): ContractTerms {
  return {
    entry: isDepositAsync ? 'request' : 'instant',
    exit: isRedemptionAsync ? 'request' : 'instant',
    fees: {},
    room: isDepositAsync ? undefined : room,
    liquidity: isRedemptionAsync ? 0n : undefined,
  }
}

function overview(vault: Omit<VaultCandidate, 'isAsync'> & Sides): ReadPlan<Overview> {
  const { address, shareToken, shareDecimals } = vault
  const calls = {
    symbol: buildCall(shareToken, erc20Abi, 'symbol', []),
    totalSupply: buildCall(shareToken, erc20Abi, 'totalSupply', []),
    totalAssets: buildCall(address, erc7540Abi, 'totalAssets', []),
    sharePrice: sharePrice(vault),
    ...buildDepositLimitCalls(address),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => {
    const { symbol, totalSupply, totalAssets, sharePrice, ...limitAnswers } = answers
    const limits = parseLimits(limitAnswers)
    return {
      sharePrice,
      // The standard has no limit for deposit requests. In a vault with deposit requests, `maxDeposit` is the account's
      // claimable amount instead.
      hasCap: vault.isDepositAsync ? false : limits.hasCap,
      terms: termsOf(vault, limits.room),
      state: buildVaultState({
        symbol,
        decimals: shareDecimals,
        asset: vault.asset,
        assetSymbol: vault.assetSymbol,
        assetDecimals: vault.assetDecimals,
        totalAssets,
        totalSupply,
        sharePrice,
      }),
    }
  })
}

function depositTerms(vault: Erc7540Vault, account: Address, amount: bigint): ReadPlan<DepositTerms> {
  const { address, asset, isDepositAsync, cancelsDeposits } = vault
  if (!isDepositAsync) {
    return mapReadPlan(readErc4626DepositTerms(vault, account, amount), (read) => ({
      ...read,
      terms: termsOf(vault, read.terms.room),
    }))
  }
  const price = precisePrice(vault)
  const calls = {
    shares: buildCall(address, erc7540Abi, 'convertToShares', [amount]),
    price: price.call,
    allowance: buildCall(asset, erc20Abi, 'allowance', [account, address]),
    isCancelling: buildCall(address, erc7540Abi, 'pendingCancelDepositRequest', [0n, account]),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => ({
    allowance: requireValue(answers.allowance),
    terms: termsOf(vault, undefined),
    room: () => undefined,
    ...estimateDeposit(amount, answers.shares, answers.price, price),
    choose() {
      // The vault takes no deposit request while a cancellation is pending (EIP-7887).
      if (cancelsDeposits && answers.isCancelling) throw new AppError('previous_deposit_request_not_settled')
      return 'requestDeposit'
    },
  }))
}

/** Protocol of vaults with asynchronous deposits, redemptions or both (https://eips.ethereum.org/EIPS/eip-7540). */
export const erc7540: Protocol<Erc7540Vault> = {
  abi: erc7540Abi,
  describe: ({ isAsync: isDepositAsync, ...vault }) =>
    mapReadPlan(
      joinReadPlans(readInterfaces(vault.address), overview({ ...vault, isDepositAsync, isRedemptionAsync: true })),
      ([{ isRedemptionAsync, ...cancels }, { hasCap = false }]) =>
        isDepositAsync || isRedemptionAsync
          ? { protocol: 'erc7540', isDepositAsync, isRedemptionAsync, ...cancels, hasCap, version: null }
          : 'no ERC-7540 vault: it does not say, by ERC-165, that deposits or redemptions are by request',
    ),
  overview,
  shareValue,
  account: readErc7540Account,
  depositTerms,
  withdrawalTerms: readErc7540WithdrawalTerms,
  claimTerms: readErc7540ClaimTerms,
  cancelTerms: readErc7540CancelTerms,
  openRequest: readErc7540OpenRequest,
  books: erc7540Books,
}
