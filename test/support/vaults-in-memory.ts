import { CHAINS } from '../../lib/chain/registry.ts'
import type { CooldownVault } from '../../lib/protocols/cooldown/vault.ts'
import type { Erc4626Vault } from '../../lib/protocols/erc4626/vault.ts'
import type { Erc7540Vault } from '../../lib/protocols/erc7540/vault.ts'
import type { SimulatedContracts } from './contracts-in-memory.ts'
import { LAGOON_VAULT } from './lagoon-in-memory.ts'

const COMMON = {
  ...{ chainId: CHAINS[0]?.id ?? 1, firstBlock: 0, address: LAGOON_VAULT.address, shareToken: LAGOON_VAULT.address },
  ...{ asset: LAGOON_VAULT.asset, assetSymbol: 'USDC', assetDecimals: 6, shareDecimals: 18 },
}
/** Configuration of a synchronous ERC-4626 vault. */
export const SYNC_VAULT: Erc4626Vault = { ...COMMON, protocol: 'erc4626' }
/** Configuration of a vault with a cooldown before withdrawals. */
export const COOLDOWN_VAULT: CooldownVault = {
  ...{ ...COMMON, protocol: 'cooldown' },
  silo: '0x0000000000000000000000000000000000005110',
}
/** Configuration of an asynchronous ERC-7540 vault. */
export const ASYNC_VAULT: Erc7540Vault = {
  ...{ ...COMMON, protocol: 'erc7540' },
  ...{ isDepositAsync: true, isRedemptionAsync: true, cancelsDeposits: true, cancelsRedemptions: true },
}

/**
 * State of a vault with instant withdrawals, and one account's shares. Amounts are in smallest units, the fee in basis points.
 */
export type SyncFacts = {
  readonly totalAssets: bigint
  readonly totalSupply: bigint
  readonly exitFee: bigint
  readonly shares: bigint
}

const PLAIN: SyncFacts = { totalAssets: 10n ** 12n, totalSupply: 10n ** 24n, exitFee: 0n, shares: 0n }

/** Returns the conversions of ERC-4626: shares to assets, rounded down, and assets to shares, rounded up or down. */
export const conversionOf = ({ totalAssets, totalSupply }: Pick<SyncFacts, 'totalAssets' | 'totalSupply'>) => ({
  assetsOf: (shares: bigint) => (shares * totalAssets) / totalSupply,
  sharesFor: (assets: bigint, isUp: boolean) => (assets * totalSupply + (isUp ? totalAssets - 1n : 0n)) / totalAssets,
})

/**
 * Builds the simulated contracts of a vault with instant withdrawals. The vault deducts its exit fee from the paid assets.
 * `answers` overrides function results.
 */
export function vaultContracts(
  facts: Partial<SyncFacts>,
  answers: SimulatedContracts['answers'] = {},
): SimulatedContracts {
  const all = { ...PLAIN, ...facts }
  const { assetsOf, sharesFor } = conversionOf(all)
  const feeOn = (assets: bigint) => (assets * all.exitFee + 9_999n) / 10_000n
  return {
    answers: {
      ...{ balanceOf: all.shares, allowance: 0n, convertToAssets: assetsOf, maxDeposit: 2n ** 256n - 1n },
      convertToShares: (assets: bigint) => sharesFor(assets, false),
      previewRedeem: (shares: bigint) => assetsOf(shares) - feeOn(assetsOf(shares)),
      previewWithdraw: (assets: bigint) => sharesFor(assets + feeOn(assets), true),
      ...{ maxWithdraw: assetsOf(all.shares), maxRedeem: all.shares },
      ...answers,
    },
  }
}
