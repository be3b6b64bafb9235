import { type Call, call } from '../../chain/call.ts'
import { vaultAbi } from '../abi.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'

/** The call for what these shares are worth, in the asset's smallest unit. */
export function shareValue({ address }: Pick<TokenizedVault, 'address'>, shares: bigint): Call<bigint> {
  return call(address, vaultAbi, 'convertToAssets', [shares])
}

/** The call for what one whole share is worth, in the asset's smallest unit. */
export function sharePrice(vault: Pick<TokenizedVault, 'address' | 'shareDecimals'>): Call<bigint> {
  return shareValue(vault, 10n ** BigInt(vault.shareDecimals))
}

/** How many digits more of the price are asked for than one unit of the asset has, and those of the largest amount. */
const MORE_DIGITS = 18
const MOST_DIGITS = 77

/** The call for a price that values any amount of shares to the asset's unit, and what shares are worth by its answer. */
export function precisePrice({ address, shareDecimals }: Pick<TokenizedVault, 'address' | 'shareDecimals'>): {
  readonly call: Call<bigint>
  readonly worth: (price: bigint) => (shares: bigint) => bigint
} {
  const many = 10n ** BigInt(Math.min(shareDecimals + MORE_DIGITS, MOST_DIGITS))
  return {
    call: call(address, vaultAbi, 'convertToAssets', [many]),
    worth: (price) => (shares) => (shares * price) / many,
  }
}
