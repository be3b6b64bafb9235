import * as z from 'zod'
import { TokenizedVault } from '../tokenized-vault.ts'

/** Properties of a synchronous vault, read from the chain when it was added. */
export const Erc4626Vault = TokenizedVault.extend({ protocol: z.literal('erc4626') })
export type Erc4626Vault = z.output<typeof Erc4626Vault>
