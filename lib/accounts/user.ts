import * as z from 'zod'
import { EpochSeconds, Timestamp } from '../core/codecs.ts'
import { AppError } from '../core/errors.ts'
import { field } from '../core/field.ts'
import { Credential, type CredentialOf } from './credential.ts'
import { Platform } from './relying-party.ts'
import { type Wallet, WalletChain } from './wallet.ts'

/** E-mail address of a user. Parsing trims it and converts it to lower case. */
export const Email = field(
  z
    .string()
    .max(254)
    .transform((text) => text.trim().toLowerCase())
    .pipe(z.email()),
  'missing_or_invalid_email',
).describe('E-mail address')

/** State of a user's identity check (know your customer). */
export const KycStatus = z.enum(['none', 'pending', 'approved', 'rejected', 'expired'])

const LiveSession = z.object({
  hash: z.string(),
  platform: Platform.optional(),
  createdAt: Timestamp,
  expiresAt: EpochSeconds,
})

/** Maximum number of credentials of one user. It limits the size of the user's item, in which a credential takes at most 5 KB. */
export const MAX_CREDENTIALS = 8
/** Maximum number of sessions of one user. It limits the size of the user's item, in which a session takes about 300 bytes. */
export const MAX_SESSIONS = 20

/** A user of a client's application, with credentials and wallets. */
export const User = z.object({
  clientId: z.string(),
  email: z.string(),
  /** Id of the user: base64url of 32 random bytes. */
  userId: z.string(),
  createdAt: Timestamp,
  /** Credentials by id, at most MAX_CREDENTIALS. */
  credentials: z.record(z.string(), Credential),
  /** Sessions by id, at most MAX_SESSIONS. Some of them may have expired. */
  sessions: z.record(z.string(), LiveSession),
  /** Number of changes to the credentials or sessions so far. A conditional write compares it to detect concurrent changes. */
  version: z.number().int(),
  wallets: z.record(z.string(), z.object({ chain: WalletChain, linkedAt: Timestamp })),
  /** Result of the identity check (know your customer). An operator sets it. */
  kyc: KycStatus.optional(),
  /** Remaining budget for the user's network fees, in millionths of a US dollar. An operator sets it. */
  smartGas: z.number().int().nonnegative().optional(),
})
export type User = z.output<typeof User>

/** Credentials and sessions of a user. */
export type Access = Pick<User, 'credentials' | 'sessions'>

/** Returns the user's recovery key with this id; undefined if the user has none. */
export function findRecoveryKey(user: User | null, id: string): CredentialOf<'RecoveryKey'> | undefined {
  const keys = Object.values(user?.credentials ?? {}).filter((held) => held.kind === 'RecoveryKey')
  return keys.find((key) => key.id === id)
}

/** Lists a user's wallets in the order in which they were linked. Throws `invalid_session` if there is no user. */
export function listWallets(user: User | null): Wallet[] {
  if (!user) throw new AppError('invalid_session')
  const wallets = Object.entries(user.wallets).map(([address, wallet]) => ({ address, ...wallet }))
  return wallets.sort((left, right) => left.linkedAt.getTime() - right.linkedAt.getTime())
}

/** Returns true if these credentials contain a password but no second factor. The service requires a second factor for a password. */
export function lacksSecondFactor(credentials: User['credentials']): boolean {
  const all = Object.values(credentials)
  return all.some(({ kind }) => kind === 'Password') && !all.some(({ factor }) => factor === 'second')
}
