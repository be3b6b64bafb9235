import * as z from 'zod'
import { Timestamp } from '../codecs.ts'
import { AppError } from '../errors.ts'
import { field } from '../field.ts'
import { Credential } from './credential.ts'
import { type Wallet, WalletChain } from './wallet.ts'

/** An e-mail address as users are known by it: without spaces around it, in lower case. */
export const Email = field(
  z
    .string()
    .max(254)
    .transform((text) => text.trim().toLowerCase())
    .pipe(z.email()),
  'missing_or_invalid_email',
).describe('E-mail address')

/** How far the check of a user's identity is. */
export const KycStatus = z.enum(['none', 'pending', 'approved', 'rejected', 'expired'])

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
  /** Set by an operator. */
  kyc: KycStatus.optional(),
  /** What is left of the network fees that are paid for the user, in millionths of a US dollar; set by an operator. */
  smartGas: z.number().int().nonnegative().optional(),
})
export type User = z.output<typeof User>

/** The wallets of a user, the first linked first; throws `invalid_session` where the user is no more. */
export function listWallets(user: User | null): Wallet[] {
  if (!user) throw new AppError('invalid_session')
  const wallets = Object.entries(user.wallets).map(([address, wallet]) => ({ address, ...wallet }))
  return wallets.sort((left, right) => left.linkedAt.getTime() - right.linkedAt.getTime())
}
