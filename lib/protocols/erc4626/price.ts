import { buildCall, type ContractCall } from '../../chain/call.ts'
import { vaultAbi } from '../abi.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'

/** Returns the call that values these shares, in the asset's smallest unit. */
export function shareValue({ address }: Pick<TokenizedVault, 'address'>, shares: bigint): ContractCall<bigint> {
  return buildCall(address, vaultAbi, 'convertToAssets', [shares])
}

/** Returns the call that values one whole share, in the asset's smallest unit. */
export function sharePrice(vault: Pick<TokenizedVault, 'address' | 'shareDecimals'>): ContractCall<bigint> {
  return shareValue(vault, 10n ** BigInt(vault.shareDecimals))
}

/**
 * Number of decimal digits that `precisePrice` adds to the price of one whole share. MAX_DIGITS limits all digits
 * together, because 10^77 is the largest power of ten in a uint256.
 */
const MORE_DIGITS = 18
const MAX_DIGITS = 77

/**
 * Returns a call that values many shares at once, so that its result is more precise than the price of one share.
 * `worth` takes that result, and returns a function that values shares in the asset's smallest unit.
 */
export function precisePrice({ address, shareDecimals }: Pick<TokenizedVault, 'address' | 'shareDecimals'>): {
  readonly call: ContractCall<bigint>
  readonly worth: (price: bigint) => (shares: bigint) => bigint
} {
  const many = 10n ** BigInt(Math.min(shareDecimals + MORE_DIGITS, MAX_DIGITS))
  return {
    call: buildCall(address, vaultAbi, 'convertToAssets', [many]),
    worth: (price) => (shares) => (shares * price) / many,
  }
}
