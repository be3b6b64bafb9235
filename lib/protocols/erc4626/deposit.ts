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

/** Account without an owner, for which general limits are read. */
export const UNOWNED_ACCOUNT: Address = '0x000000000000000000000000000000000000dEaD'

/** Amount above any limit: vaults without one subtract their holdings from 2^256, or 2^112 (Euler). */
const NO_LIMIT = 2n ** 100n

/** Returns the calls that read a vault's deposit limit. */
export function limitCalls(address: Address, account = UNOWNED_ACCOUNT) {
  return {
    maxDeposit: call(address, vaultAbi, 'maxDeposit', [account]),
    liquidityAdapter: call(address, vaultAbi, 'liquidityAdapter', []),
  }
}

/**
 * Parses the results of `limitCalls`: whether deposits have a limit, and their room, null without one. Undefined is
 * unknown: a vault may refuse only third parties, and one with an adapter (Morpho Vault V2) returns 0.
 */
export function parseLimits({ maxDeposit, liquidityAdapter }: ReturnValues<ReturnType<typeof limitCalls>>) {
  const hasCap = maxDeposit === undefined ? undefined : maxDeposit < NO_LIMIT
  const isKnown = maxDeposit !== 0n && liquidityAdapter === undefined
  return { hasCap, room: isKnown ? (hasCap === false ? null : maxDeposit) : undefined }
}

/** Details of a zero limit. No vault is known to report when deposits reopen. */
const TAKES_NOTHING = {
  details: [{ field: 'vaultAddress', issue: 'takes nothing from the user now: its limit (maxDeposit) is 0' }],
}

/** Builds the terms of an ERC-4626 vault. Liquidity is unknown: it is reported for one owner only. */
export function erc4626Terms({ room }: Pick<ReturnType<typeof parseLimits>, 'room'>): ReadTerms {
  return { entry: 'instant', exit: 'instant', fees: {}, room, liquidity: undefined }
}

/** Reads how a vault takes synchronous deposits, up to the account's limit. */
export function erc4626DepositTerms(vault: TokenizedVault, account: Address, amount: bigint): ReadPlan<DepositTerms> {
  const { address, asset } = vault
  const price = precisePrice(vault)
  const calls = {
    // A preview includes fees and ignores limits (EIP-4626).
    shares: call(address, vaultAbi, 'previewDeposit', [amount]),
    price: price.call,
    paused: call(address, vaultAbi, 'paused', []),
    ...limitCalls(address, account),
    allowance: call(asset, erc20Abi, 'allowance', [account, address]),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => {
    // The dry run decides if there is an adapter.
    const maxDeposit = answers.liquidityAdapter === undefined ? requireValue(answers.maxDeposit) : MAX_UINT256
    return {
      allowance: requireValue(answers.allowance),
      terms: erc4626Terms(parseLimits(answers)),
      room: () => (maxDeposit < NO_LIMIT ? maxDeposit : undefined),
      ...estimateDeposit(amount, answers.shares, answers.price, price),
      choose(amount) {
        // Most ERC-4626 vaults cannot be paused and have no such function.
        if (answers.paused) throw new AppError('vault_is_paused')
        if (maxDeposit === 0n) throw new AppError('deposits_are_not_open', TAKES_NOTHING)
        if (amount > maxDeposit) throw buildCapError(maxDeposit)
        return 'deposit'
      },
    }
  })
}

/** Returns estimates of a deposit, from the shares reported for about this amount and the vault's price. */
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
