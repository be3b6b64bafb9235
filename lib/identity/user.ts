import * as z from 'zod'
import { Timestamp } from '../codecs.ts'
import { Credential } from './credential.ts'
import { WalletChain } from './wallet.ts'

/** An e-mail address as users are known by it: without spaces around it, in lower case. */
export const Email = z
  .string()
  .max(254)
  .transform((text) => text.trim().toLowerCase())
  .pipe(z.email())
  .meta({ description: 'E-mail address' })

/** Someone who uses a client's application, with what they log in with and the wallets that they hold. */
export const User = z.object({
  clientId: z.string(),
  email: z.string(),
  /** base64url of 32 random bytes: WebAuthn's user handle. */
  userId: z.string(),
  createdAt: Timestamp,
  firstFactor: Credential,
  secondFactor: Credential.optional(),
  recovery: Credential.optional(),
  /** By address. */
  wallets: z.record(z.string(), z.object({ chain: WalletChain, linkedAt: Timestamp })),
})
export type User = z.output<typeof User>
