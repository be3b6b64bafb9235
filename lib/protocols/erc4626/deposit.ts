import type { Address } from 'viem'
import { buildCall, type ReturnValues, requireValue } from '../../chain/call.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import { buildReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { MAX_UINT256 } from '../../core/codecs.ts'
import { AppError } from '../../core/errors.ts'
import { vaultAbi } from '../abi.ts'
import type { DepositTerms } from '../protocol.ts'
import { buildCapError } from '../refusals.ts'
import type { ContractTerms } from '../terms.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'
import { precisePrice } from './price.ts'

/** Address that nobody owns. Deposit limits that a vault reports for it apply to anyone, not to one user. */
export const UNOWNED_ACCOUNT: Address = '0x000000000000000000000000000000000000dEaD'

/** Limit from which a vault counts as unlimited. Unlimited vaults report 2^256, or 2^112 (Euler), minus their holdings. */
const NO_LIMIT = 2n ** 100n

/** Returns the calls that read a vault's deposit limit for an account. `parseLimits` parses their results. */
export function buildDepositLimitCalls(address: Address, account = UNOWNED_ACCOUNT) {
  return {
    maxDeposit: buildCall(address, vaultAbi, 'maxDeposit', [account]),
    liquidityAdapter: buildCall(address, vaultAbi, 'liquidityAdapter', []),
  }
}

/**
 * Parses the results of `buildDepositLimitCalls`. `hasCap` is true if deposits are limited. `room` is the amount that the vault
 * still takes; null without a limit. Unknown results are undefined. At a limit of 0, `room` is unknown, because the
 * vault may refuse only this one account. Morpho Vault V2, which has a liquidity adapter, always returns 0.
 */
export function parseLimits({ maxDeposit, liquidityAdapter }: ReturnValues<ReturnType<typeof buildDepositLimitCalls>>) {
  const hasCap = maxDeposit === undefined ? undefined : maxDeposit < NO_LIMIT
  const isKnown = maxDeposit !== 0n && liquidityAdapter === undefined
  return { hasCap, room: isKnown ? (hasCap === false ? null : maxDeposit) : undefined }
}

/** Details of the error for a vault whose deposit limit is 0. They name no time, because no known vault reports when deposits reopen. */
const TAKES_NOTHING = {
  details: [{ field: 'vaultAddress', issue: 'takes nothing from the user now: its limit (maxDeposit) is 0' }],
}

/**
 * Builds the terms of an ERC-4626 vault. Its liquidity is unknown, because the contract reports only the withdrawal
 * limits of single owners.
 */
export function buildErc4626Terms({ room }: Pick<ReturnType<typeof parseLimits>, 'room'>): ContractTerms {
  return { entry: 'instant', exit: 'instant', fees: {}, room, liquidity: undefined }
}

/** Reads the terms of a synchronous deposit. The vault's `maxDeposit` for the account limits the amount. */
export function readErc4626DepositTerms(
  vault: TokenizedVault,
  account: Address,
  amount: bigint,
): ReadPlan<DepositTerms> {
  const { address, asset } = vault
  const price = precisePrice(vault)
  const calls = {
    // The result of a preview includes fees and ignores limits (EIP-4626).
    shares: buildCall(address, vaultAbi, 'previewDeposit', [amount]),
    price: price.call,
    paused: buildCall(address, vaultAbi, 'paused', []),
    ...buildDepositLimitCalls(address, account),
    allowance: buildCall(asset, erc20Abi, 'allowance', [account, address]),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => {
    // Vaults with a liquidity adapter (Morpho Vault V2) always report a limit of 0. Only the simulation then shows if
    // the deposit works.
    const maxDeposit = answers.liquidityAdapter === undefined ? requireValue(answers.maxDeposit) : MAX_UINT256
    return {
      allowance: requireValue(answers.allowance),
      terms: buildErc4626Terms(parseLimits(answers)),
      room: () => (maxDeposit < NO_LIMIT ? maxDeposit : undefined),
      ...estimateDeposit(amount, answers.shares, answers.price, price),
      choose(amount) {
        // Vaults without a pause have no `paused` function: the result is then undefined.
        if (answers.paused) throw new AppError('vault_is_paused')
        if (maxDeposit === 0n) throw new AppError('deposits_are_not_open', TAKES_NOTHING)
        if (amount > maxDeposit) throw buildCapError(maxDeposit)
        return 'deposit'
      },
    }
  })
}

/**
 * Returns functions that estimate a deposit. `shares` is what the vault previews for the deposit `amount`. `price` is
 * the result of the call that `precisePrice` returns.
 */
export function estimateDeposit(
  amount: bigint,
  shares: bigint | undefined,
  price: bigint | undefined,
  { worth }: Pick<ReturnType<typeof precisePrice>, 'worth'>,
): Pick<DepositTerms, 'sharesFor' | 'worth'> {
  return {
    sharesFor: (assets) => (shares === undefined ? null : (shares * assets) / amount),
    worth: (shares) => (price === undefined ? null : worth(price)(shares)),
  }
}
