import * as z from 'zod'
import { Address } from '../../core/codecs.ts'
import { TokenizedVault } from '../tokenized-vault.ts'

/** Properties of a cooldown vault, read from the chain when an operator added it. */
export const CooldownVault = TokenizedVault.extend({
  protocol: z.literal('cooldown'),
  /** Contract that holds an account's assets during a cooldown. */
  silo: Address,
})
export type CooldownVault = z.output<typeof CooldownVault>
