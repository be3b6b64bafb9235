import * as z from 'zod'
import { Address } from '../../core/codecs.ts'
import { TokenizedVault } from '../tokenized-vault.ts'

/** Properties of a Lagoon vault, read from the chain when it was added. */
export const LagoonVault = TokenizedVault.extend({
  protocol: z.literal('lagoon'),
  /** Accounts that hold the assets and propose valuations. */
  safe: Address,
  valuationManager: Address,
  /** Contract that holds the assets and shares of waiting requests; it never changes. */
  pendingSilo: Address,
})
export type LagoonVault = z.output<typeof LagoonVault>
