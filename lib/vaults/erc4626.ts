import type { Address } from 'viem'
import { erc20Abi } from '../chain/erc20.ts'
import { type Query, query } from '../chain/reader.ts'
import { known, view } from '../chain/view.ts'
import { AppError } from '../errors.ts'
import { erc4626Abi } from './abi.ts'
import type { Vault, VaultOnChain } from './vault.ts'

const NO_LIMIT = 2n ** 256n - 1n
// Caps are asked for on behalf of an account that nobody has.
const ANYBODY: Address = '0x000000000000000000000000000000000000dEaD'

/** A synchronous ERC-4626 vault at one block; what it does not tell is undefined. */
export type Erc4626Vault = {
  /** What one whole share is worth, in the asset's smallest unit. */
  readonly sharePrice: bigint | undefined
  /** Assets under management, in the asset's smallest unit. */
  readonly totalAssets: bigint | undefined
  /** Whether deposits have an upper limit. */
  readonly hasCap: boolean | undefined
}

/** What one account may do in a synchronous vault, in the asset's smallest unit. */
export type Erc4626Account = {
  readonly paused: boolean
  readonly maxDeposit: bigint
  /** How much of the asset the vault may take from the account. */
  readonly allowance: bigint
}

/** The vault at one block. Its parsing never throws. */
export function erc4626Vault({ address, shareDecimals }: VaultOnChain): Query<Erc4626Vault> {
  const views = {
    sharePrice: view(address, erc4626Abi, 'convertToAssets', [10n ** BigInt(shareDecimals)]),
    totalAssets: view(address, erc4626Abi, 'totalAssets', []),
    maxDeposit: view(address, erc4626Abi, 'maxDeposit', [ANYBODY]),
  }
  return query({ address, slots: {}, views }, ({ answers: { sharePrice, totalAssets, maxDeposit } }) => ({
    sharePrice,
    totalAssets,
    hasCap: maxDeposit === undefined ? undefined : maxDeposit !== NO_LIMIT,
  }))
}

/** What one account may do in the vault. Its parsing throws `upstream_bad_answer` when the vault does not tell. */
export function erc4626Account({ address, asset }: Vault, account: Address): Query<Erc4626Account> {
  const views = {
    paused: view(address, erc4626Abi, 'paused', []),
    maxDeposit: view(address, erc4626Abi, 'maxDeposit', [account]),
    allowance: view(asset, erc20Abi, 'allowance', [account, address]),
  }
  return query({ address, slots: {}, views }, ({ answers }) => ({
    // Most ERC-4626 vaults cannot be paused and have no such function.
    paused: answers.paused ?? false,
    maxDeposit: known(answers.maxDeposit),
    allowance: known(answers.allowance),
  }))
}

/** The one call that takes a deposit of `amount` into the vault now. Throws the AppError that says why none does. */
export function chooseErc4626Deposit({ paused, maxDeposit }: Erc4626Account, amount: bigint): 'deposit' {
  if (paused) throw new AppError('vault_is_paused')
  if (maxDeposit === 0n) throw new AppError('deposits_are_not_open')
  if (amount > maxDeposit) throw new AppError('vault_cap_reached')
  return 'deposit'
}
