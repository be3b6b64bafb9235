import type { Address as EvmAddress } from 'viem'
import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { Address, Timestamp } from '../codecs.ts'
import { AppError } from '../errors.ts'
import { lagoonFields } from '../protocols/lagoon/vault.ts'

/** What every vault has. */
const common = z.object({
  poolId: z.string().min(1),
  chainId: ChainId,
  address: Address,
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
  /** Whether deposits were capped at `addedAt`. */
  hasCap: z.boolean(),
  /** A block at or before the vault's first event: where the reading of its past starts. */
  firstBlock: z.number().int().nonnegative(),
  addedAt: Timestamp,
})

const Erc4626Vault = common.extend({ kind: z.literal('erc4626') })
const LagoonVault = common.extend({ kind: z.literal('lagoon'), ...lagoonFields })
export type Erc4626Vault = z.output<typeof Erc4626Vault>
export type LagoonVault = z.output<typeof LagoonVault>

/**
 * A vault as configured for one client: what does not change, learnt from the chain when an operator added it.
 * `kind` is its protocol: `erc4626` mints shares at once, `lagoon` (ERC-7540) after a settlement.
 */
export const Vault = z.discriminatedUnion('kind', [Erc4626Vault, LagoonVault])
export type Vault = z.output<typeof Vault>

const followed = {
  chainId: true,
  address: true,
  kind: true,
  asset: true,
  assetSymbol: true,
  assetDecimals: true,
  shareDecimals: true,
  firstBlock: true,
} as const
const FollowedErc4626Vault = Erc4626Vault.pick(followed)
const FollowedLagoonVault = LagoonVault.pick({ ...followed, pendingSilo: true })

/** The part of a vault that recording what happens in it takes: what is the same for every client that has it. */
export const FollowedVault = z.discriminatedUnion('kind', [FollowedErc4626Vault, FollowedLagoonVault])
export type FollowedVault = z.output<typeof FollowedVault>
/** The names of its fields, whatever its protocol. */
export const FOLLOWED_FIELDS: readonly string[] = [
  ...new Set(FollowedVault.options.flatMap(({ shape }) => Object.keys(shape))),
]

/** The part of a vault that reading it takes. */
export type VaultOnChain = Pick<Vault, 'address' | 'asset' | 'assetSymbol' | 'assetDecimals' | 'shareDecimals'>

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
