import * as z from 'zod'
import { TokenizedVault } from '../tokenized-vault.ts'

/** Properties of an ERC-4626 vault, read from the chain when an operator added it. */
export const Erc4626Vault = TokenizedVault.extend({ protocol: z.literal('erc4626') })
export type Erc4626Vault = z.output<typeof Erc4626Vault>
