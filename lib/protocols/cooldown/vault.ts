import * as z from 'zod'
import { Address } from '../../codecs.ts'
import { TokenizedVault } from '../tokenized-vault.ts'

/** What the chain told of a cooldown vault when it was added. */
export const CooldownVault = TokenizedVault.extend({
  protocol: z.literal('cooldown'),
  /** The contract that holds the assets during a cooldown. */
  silo: Address,
})
export type CooldownVault = z.output<typeof CooldownVault>
