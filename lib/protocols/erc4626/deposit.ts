import type { Address } from 'viem'
import { call, type ReturnValues, requireValue } from '../../chain/call.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import { buildReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { MAX_UINT256 } from '../../core/codecs.ts'
import { AppError } from '../../core/errors.ts'
import { vaultAbi } from '../abi.ts'
import type { DepositTerms } from '../protocol.ts'
import { buildCapError } from '../refusals.ts'
import type { ReadTerms } from '../terms.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'
import { precisePrice } from './price.ts'

/** Account without an owner. Limits read for it apply to anyone, not to one user. */
export const UNOWNED_ACCOUNT: Address = '0x000000000000000000000000000000000000dEaD'

/** Limit from which a vault counts as unlimited. Unlimited vaults report 2^256, or 2^112 (Euler), minus their holdings. */
const NO_LIMIT = 2n ** 100n

/** Returns the calls that read a vault's deposit limit for an account; see `parseLimits`. */
export function limitCalls(address: Address, account = UNOWNED_ACCOUNT) {
  return {
    maxDeposit: call(address, vaultAbi, 'maxDeposit', [account]),
    liquidityAdapter: call(address, vaultAbi, 'liquidityAdapter', []),
  }
}

/**
 * Parses the results of `limitCalls`. `hasCap` is true if deposits are limited. `room` is the amount still taken; null without a limit.
 * Both are undefined if unknown. A limit of 0 is unknown room: the vault may refuse only third parties. Morpho Vault V2, which has a
 * liquidity adapter, always returns 0.
 */
export function parseLimits({ maxDeposit, liquidityAdapter }: ReturnValues<ReturnType<typeof limitCalls>>) {
  const hasCap = maxDeposit === undefined ? undefined : maxDeposit < NO_LIMIT
  const isKnown = maxDeposit !== 0n && liquidityAdapter === undefined
  return { hasCap, room: isKnown ? (hasCap === false ? null : maxDeposit) : undefined }
}

/** Details of the error for a limit of 0. No known vault reports when deposits reopen, so they name no time. */
const TAKES_NOTHING = {
  details: [{ field: 'vaultAddress', issue: 'takes nothing from the user now: its limit (maxDeposit) is 0' }],
}

/** Builds the terms of an ERC-4626 vault. Its liquidity is unknown, because the contract reports limits only for one owner. */
export function erc4626Terms({ room }: Pick<ReturnType<typeof parseLimits>, 'room'>): ReadTerms {
  return { entry: 'instant', exit: 'instant', fees: {}, room, liquidity: undefined }
}

/** Reads the terms of a synchronous deposit. The account's own limit bounds the amount. */
export function erc4626DepositTerms(vault: TokenizedVault, account: Address, amount: bigint): ReadPlan<DepositTerms> {
  const { address, asset } = vault
  const price = precisePrice(vault)
  const calls = {
    // The result of a preview includes fees and ignores limits (EIP-4626).
    shares: call(address, vaultAbi, 'previewDeposit', [amount]),
    price: price.call,
    paused: call(address, vaultAbi, 'paused', []),
    ...limitCalls(address, account),
    allowance: call(asset, erc20Abi, 'allowance', [account, address]),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => {
    // The limit of a vault with a liquidity adapter (Morpho Vault V2) is always 0. So only the dry run decides.
    const maxDeposit = answers.liquidityAdapter === undefined ? requireValue(answers.maxDeposit) : MAX_UINT256
    return {
      allowance: requireValue(answers.allowance),
      terms: erc4626Terms(parseLimits(answers)),
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

/** Returns estimates of a deposit. They come from the shares that the vault reported for about this amount, and from its price. */
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
