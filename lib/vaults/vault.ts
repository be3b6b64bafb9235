import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { Address, Timestamp } from '../codecs.ts'

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
  /** Whether deposits were capped at `addedAt`. */
  hasCap: z.boolean(),
  addedAt: Timestamp,
})
export type Vault = z.output<typeof Vault>
