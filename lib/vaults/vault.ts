import type { Address } from 'viem'
import * as z from 'zod'
import { Timestamp } from '../codecs.ts'
import { AppError } from '../errors.ts'
import { RoundTrip } from '../protocols/terms.ts'
import { VaultOnChain } from '../protocols/vault-on-chain.ts'

/** Which vault: its chain and its address there. */
export type VaultKey = Pick<VaultOnChain, 'chainId' | 'address'>

/** A vault as configured for one client: what the chain told when an operator added it, and how the client shows it. */
export const Vault = z.intersection(
  VaultOnChain,
  z.object({
    poolId: z.string().min(1),
    name: z.string().min(1),
    description: z.string(),
    logoUrl: z.string(),
    riskProfile: z.string(),
    riskProtocol: z.string(),
    /** Whether deposits were capped at `addedAt`. */
    hasCap: z.boolean(),
    addedAt: Timestamp,
    /** Absent for a vault that was added before round trips were made. */
    roundTrip: RoundTrip.optional(),
  }),
)
export type Vault = z.output<typeof Vault>

/** The partition of what is stored of a vault, whoever's it is. */
export function vaultPartition({ chainId, address }: VaultKey): string {
  return `VAULT#${chainId}#${address}`
}

/**
 * The vault of these that has this address, on this chain where one is given.
 * Throws `vault_not_found`, or `ambiguous_vault_address` when two chains have one.
 */
export function findVault(vaults: readonly Vault[], address: Address, chainId: number | undefined): Vault {
  const found = vaults.filter((vault) => vault.address === address && (chainId ?? vault.chainId) === vault.chainId)
  if (found.length > 1) throw new AppError('ambiguous_vault_address')
  if (!found[0]) throw new AppError('vault_not_found')
  return found[0]
}
