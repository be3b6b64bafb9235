import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { Address } from '../core/codecs.ts'

/** Properties of every vault, which never change. */
export const TokenizedVault = z.object({
  chainId: ChainId,
  address: Address,
  asset: Address,
  assetSymbol: z.string(),
  assetDecimals: z.number().int().min(0).max(77),
  /** Share token: the vault itself, unless an ERC-7575 vault has a separate one. */
  shareToken: Address,
  shareDecimals: z.number().int().min(0).max(77),
  /** Block at or before the vault's first event, where its history starts. */
  firstBlock: z.number().int().nonnegative(),
})
export type TokenizedVault = z.output<typeof TokenizedVault>
