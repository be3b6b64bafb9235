import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { Address } from '../codecs.ts'

/** Properties that every vault has on its chain. None of them ever changes. */
export const TokenizedVault = z.object({
  chainId: ChainId,
  address: Address,
  asset: Address,
  assetSymbol: z.string(),
  assetDecimals: z.number().int().min(0).max(77),
  /** Share token: the vault itself, except for ERC-7575 vaults with a separate token. */
  shareToken: Address,
  shareDecimals: z.number().int().min(0).max(77),
  /** Block at or before the vault's first event: the history is read from here. */
  firstBlock: z.number().int().nonnegative(),
})
export type TokenizedVault = z.output<typeof TokenizedVault>
