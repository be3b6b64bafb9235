import { Address } from '../../codecs.ts'

/** What is known of a Lagoon vault besides what every vault has. */
export const lagoonFields = {
  /** Who holds the assets, and who proposes valuations, when the vault was added. */
  safe: Address,
  valuationManager: Address,
  /** The contract that holds what waits for settlement; it never changes. */
  pendingSilo: Address,
}
