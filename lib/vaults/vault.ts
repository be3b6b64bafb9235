import type { Address } from 'viem'
import * as z from 'zod'
import { Timestamp } from '../core/codecs.ts'
import { AppError } from '../core/errors.ts'
import { SimulatedRoundTrip } from '../protocols/terms.ts'
import { VaultOnChain } from '../protocols/vault-on-chain.ts'

/** Key of a vault: its chain and its address there. */
export type VaultKey = Pick<VaultOnChain, 'chainId' | 'address'>

/** Vault as one API client offers it: on-chain properties, read when an operator added the vault, and the client's own texts. */
export const Vault = z.intersection(
  VaultOnChain,
  z.object({
    poolId: z.string().min(1),
    name: z.string().min(1),
    description: z.string(),
    logoUrl: z.string(),
    riskProfile: z.string(),
    riskProtocol: z.string(),
    /** True if the vault limited deposits at the time `addedAt`. */
    hasCap: z.boolean(),
    addedAt: Timestamp,
    /** Entry and exit fees that a simulated deposit and withdrawal showed; absent in older records. */
    roundTrip: SimulatedRoundTrip.optional(),
  }),
)
export type Vault = z.output<typeof Vault>

/** Returns the partition key of a vault's items, which all clients share. */
export function vaultPartition({ chainId, address }: VaultKey): string {
  return `VAULT#${chainId}#${address}`
}

/** Finds the vault with this address. Throws `vault_not_found`, or `ambiguous_vault_address` if several chains match. */
export function findVault(vaults: readonly Vault[], address: Address, chainId: number | undefined): Vault {
  const found = vaults.filter((vault) => vault.address === address && (chainId ?? vault.chainId) === vault.chainId)
  if (found.length > 1) throw new AppError('ambiguous_vault_address')
  if (!found[0]) throw new AppError('vault_not_found')
  return found[0]
}
