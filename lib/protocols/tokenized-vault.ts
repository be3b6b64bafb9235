import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { Address } from '../core/codecs.ts'

/** Properties that every vault has, and that never change. */
export const TokenizedVault = z.object({
  chainId: ChainId,
  address: Address,
  asset: Address,
  assetSymbol: z.string(),
  assetDecimals: z.number().int().min(0).max(77),
  /** Address of the share token: the vault itself, unless an ERC-7575 vault has a separate token. */
  shareToken: Address,
  shareDecimals: z.number().int().min(0).max(77),
  /** Block from which the vault's events are read. No event is older. */
  firstBlock: z.number().int().nonnegative(),
})
export type TokenizedVault = z.output<typeof TokenizedVault>
