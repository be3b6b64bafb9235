import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { Address } from '../codecs.ts'

/** What the chain tells of every vault. None of it ever changes. */
export const TokenizedVault = z.object({
  chainId: ChainId,
  address: Address,
  asset: Address,
  assetSymbol: z.string(),
  assetDecimals: z.number().int().min(0).max(77),
  /** The share token; the vault itself but for ERC-7575 vaults with a token of their own. */
  shareToken: Address,
  shareDecimals: z.number().int().min(0).max(77),
  /** A block at or before the vault's first event: where the reading of its past starts. */
  firstBlock: z.number().int().nonnegative(),
})
export type TokenizedVault = z.output<typeof TokenizedVault>
