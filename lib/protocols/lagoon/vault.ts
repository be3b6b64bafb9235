import * as z from 'zod'
import { Address } from '../../core/codecs.ts'
import { TokenizedVault } from '../tokenized-vault.ts'

/** Properties of a Lagoon vault, read from the chain when an operator added it. */
export const LagoonVault = TokenizedVault.extend({
  protocol: z.literal('lagoon'),
  /** Account that holds the vault's assets. `valuationManager` is the account that proposes valuations. */
  safe: Address,
  valuationManager: Address,
  /** Contract that holds the assets and shares of requests until their settlement. It never changes. */
  pendingSilo: Address,
})
export type LagoonVault = z.output<typeof LagoonVault>
