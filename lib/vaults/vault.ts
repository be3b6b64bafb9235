import type { Address as EvmAddress } from 'viem'
import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { Address, Timestamp } from '../codecs.ts'
import { AppError } from '../errors.ts'

/**
 * A vault as configured for one client: what does not change, learnt from the chain when an operator added it.
 * `kind` chooses the adapter: `erc4626` mints shares at once, `lagoon` (ERC-7540) after a settlement.
 */
export const Vault = z.object({
  poolId: z.string().min(1),
  chainId: ChainId,
  address: Address,
  kind: z.enum(['erc4626', 'lagoon']),
  name: z.string().min(1),
  description: z.string(),
  logoUrl: z.string(),
  riskProfile: z.string(),
  riskProtocol: z.string(),
  asset: Address,
  assetSymbol: z.string(),
  assetDecimals: z.number().int().min(0).max(77),
  /** The share token; the vault itself but for ERC-7575 vaults with a token of their own. */
  shareToken: Address,
  shareDecimals: z.number().int().min(0).max(77),
  /** Lagoon only: who holds the assets and who proposes valuations, as of `addedAt`. */
  safe: Address.optional(),
  valuationManager: Address.optional(),
  /** Lagoon only: the contract that holds what waits for settlement; it never changes. */
  pendingSilo: Address.optional(),
  /** Whether deposits were capped at `addedAt`. */
  hasCap: z.boolean(),
  /** A block at or before the vault's first event: where the reading of its past starts. */
  firstBlock: z.number().int().nonnegative(),
  addedAt: Timestamp,
})
export type Vault = z.output<typeof Vault>

/** The part of a vault that recording what happens in it takes: what is the same for every client that has it. */
export const FollowedVault = Vault.pick({
  chainId: true,
  address: true,
  kind: true,
  asset: true,
  assetSymbol: true,
  assetDecimals: true,
  shareDecimals: true,
  pendingSilo: true,
  firstBlock: true,
})
export type FollowedVault = z.output<typeof FollowedVault>

/** The part of a vault that reading it takes. */
export type VaultOnChain = Pick<
  Vault,
  'address' | 'asset' | 'assetSymbol' | 'assetDecimals' | 'shareDecimals' | 'pendingSilo'
>

/**
 * The vault of these that has this address, on this chain where one is given.
 * Throws `vault_not_found`, or `ambiguous_vault_address` when two chains have one.
 */
export function findVault(vaults: readonly Vault[], address: EvmAddress, chainId: number | undefined): Vault {
  const found = vaults.filter((vault) => vault.address === address && (chainId ?? vault.chainId) === vault.chainId)
  if (found.length > 1) throw new AppError('ambiguous_vault_address')
  if (!found[0]) throw new AppError('vault_not_found')
  return found[0]
}
