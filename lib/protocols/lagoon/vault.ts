import * as z from 'zod'
import { Address } from '../../codecs.ts'
import { TokenizedVault } from '../tokenized-vault.ts'

/** What the chain told of a Lagoon vault when it was added. */
export const LagoonVault = TokenizedVault.extend({
  protocol: z.literal('lagoon'),
  /** Who holds the assets, and who proposes valuations. */
  safe: Address,
  valuationManager: Address,
  /** The contract that holds what waits for settlement; it never changes. */
  pendingSilo: Address,
})
export type LagoonVault = z.output<typeof LagoonVault>
