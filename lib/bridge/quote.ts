import { type Hash, isHash } from 'viem'
import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { Address } from '../core/codecs.ts'

const HashText = z.string().refine((text): text is Hash => isHash(text))

/** Depositor of a bridge deposit, and hash of the terms that its calldata and event have in common. `quotedAt` is in seconds since 1970. */
export const Terms = z.object({ depositor: Address, hash: HashText, quotedAt: z.number().int() })
export type Terms = z.output<typeof Terms>

/**
 * Bridge quote that the API returned: its terms, the vault of the deposit or withdrawal, and the expected seconds until the tokens arrive.
 */
export const Quote = z.object({
  terms: Terms,
  vault: z.object({ chainId: ChainId, address: Address }),
  expectedFillSeconds: z.number(),
})
export type Quote = z.output<typeof Quote>
