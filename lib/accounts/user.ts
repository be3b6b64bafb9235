import * as z from 'zod'
import { EpochSeconds, Timestamp } from '../codecs.ts'
import { AppError } from '../errors.ts'
import { field } from '../field.ts'
import { Credential, type CredentialOf } from './credential.ts'
import { Platform } from './relying-party.ts'
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

/** What a user knows a session by: the hash of its token finds it. */
const LiveSession = z.object({
  hash: z.string(),
  platform: Platform.optional(),
  createdAt: Timestamp,
  expiresAt: EpochSeconds,
})

/** What bounds a user's item: each credential is at most 5 KB, each session 300 bytes. */
export const MOST_CREDENTIALS = 8
export const MOST_SESSIONS = 20

/** Someone who uses a client's application, with what they log in with and the wallets that they hold. */
export const User = z.object({
  clientId: z.string(),
  email: z.string(),
  /** base64url of 32 random bytes. */
  userId: z.string(),
  createdAt: Timestamp,
  /** By an id that names each, at most MOST_CREDENTIALS. */
  credentials: z.record(z.string(), Credential),
  /** By an id that names each, at most MOST_SESSIONS; some may have ended. */
  sessions: z.record(z.string(), LiveSession),
  /** How often credentials or sessions have changed. */
  version: z.number().int(),
  /** By address. */
  wallets: z.record(z.string(), z.object({ chain: WalletChain, linkedAt: Timestamp })),
  /** Set by an operator. */
  kyc: KycStatus.optional(),
  /** What is left of the network fees that are paid for the user, in millionths of a US dollar; set by an operator. */
  smartGas: z.number().int().nonnegative().optional(),
})
export type User = z.output<typeof User>

/** What opens a user's account. */
export type Access = Pick<User, 'credentials' | 'sessions'>

/** The user's recovery key, where it has this id; undefined where there is none. */
export function findRecoveryKey(user: User | null, id: string): CredentialOf<'RecoveryKey'> | undefined {
  const keys = Object.values(user?.credentials ?? {}).filter((held) => held.kind === 'RecoveryKey')
  return keys.find((key) => key.id === id)
}

/** The wallets of a user, the first linked first; throws `invalid_session` where the user is no more. */
export function listWallets(user: User | null): Wallet[] {
  if (!user) throw new AppError('invalid_session')
  const wallets = Object.entries(user.wallets).map(([address, wallet]) => ({ address, ...wallet }))
  return wallets.sort((left, right) => left.linkedAt.getTime() - right.linkedAt.getTime())
}

/** Whether one of these credentials is a password, and none a second factor, which a password needs. */
export function lacksSecondFactor(credentials: User['credentials']): boolean {
  const all = Object.values(credentials)
  return all.some(({ kind }) => kind === 'Password') && !all.some(({ factor }) => factor === 'second')
}
