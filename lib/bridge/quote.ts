import { type Hash, isHash } from 'viem'
import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { Address } from '../codecs.ts'

const HashText = z.string().refine((text): text is Hash => isHash(text))

/** Terms of a deposit that its calldata and its event have in common, by their hash; `quotedAt` in seconds since 1970. */
export const Terms = z.object({ depositor: Address, hash: HashText, quotedAt: z.number().int() })
export type Terms = z.output<typeof Terms>

/** A quote that was handed out: its terms, the vault that it is for or from, and the seconds that its fill takes. */
export const Quote = z.object({
  terms: Terms,
  vault: z.object({ chainId: ChainId, address: Address }),
  expectedFillSeconds: z.number(),
})
export type Quote = z.output<typeof Quote>
