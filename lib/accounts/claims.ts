import { wasRefused } from '../aws/requests.ts'
import { AppError } from '../core/errors.ts'
import { logger } from '../core/logger.ts'
import type { Credential } from './credential.ts'
import type { UsersStore } from './store.ts'
import type { User } from './user.ts'

type Users = Pick<UsersStore, 'get' | 'claimCredential' | 'getClaim' | 'releaseCredential'>

/**
 * Milliseconds after which another request may take over an unused claim of a passkey id. The request that made the
 * claim has then certainly ended.
 */
const MAX_RUN_MS = 60_000

/**
 * Claims the id of a new passkey, then calls `change`, which stores the passkey. Releases the id if `change` certainly
 * stored nothing. Throws `credential_already_registered` without calling `change` if the id is taken. Also throws the
 * errors of `change`. `now` is in epoch milliseconds. A passkey id must be unique, because a login without an e-mail
 * address finds the user by it. Ids of other credentials are not claimed, because a refused claim would reveal which
 * ids in a login's list are dummies.
 */
export async function withClaimedId<T>(
  users: Users,
  credentials: readonly Credential[],
  user: User,
  { now, change }: { readonly now: number; readonly change: () => Promise<T> },
): Promise<T> {
  const [id] = passkeyIds(credentials)
  if (id !== undefined && !(await claim(users, id, user, now))) throw new AppError('credential_already_registered')
  try {
    return await change()
  } catch (error) {
    if (error instanceof AppError || wasRefused(error)) await releasePasskeyIds(users, credentials, user)
    throw error
  }
}

/**
 * Releases the claimed ids of these passkeys. A failure is only logged, because another request may take over an unused
 * claim after a minute.
 */
export async function releasePasskeyIds(
  users: Users,
  credentials: readonly Credential[],
  { userId }: Pick<User, 'userId'>,
): Promise<void> {
  const releasing = passkeyIds(credentials).map((id) => users.releaseCredential(id, { claimedBy: userId }))
  for (const released of await Promise.allSettled(releasing)) {
    if (released.status === 'rejected') logger.warn('id not released', { reason: String(released.reason) })
  }
}

/** Throws `credential_already_registered` if two credentials of one user have the same id. */
export function requireDistinctIds(credentials: readonly Credential[]): void {
  const ids = credentials.flatMap((credential) => ('id' in credential ? [credential.id] : []))
  if (new Set(ids).size < ids.length) throw new AppError('credential_already_registered')
}

/** Claims a passkey id for a user. Returns false if another user has the id, or if a running request may be about to store it. */
async function claim(users: Users, id: string, user: User, now: number): Promise<boolean> {
  const at = new Date(now)
  if (await users.claimCredential(id, user, at)) return true
  const claimed = await users.getClaim(id)
  if (!claimed || now - claimed.claimedAt.getTime() <= MAX_RUN_MS) return false
  const owner = await users.get(claimed)
  if (passkeyIds(Object.values(owner?.credentials ?? {})).includes(id)) return false
  await users.releaseCredential(id, claimed)
  return await users.claimCredential(id, user, at)
}

function passkeyIds(credentials: readonly Credential[]): string[] {
  return credentials.flatMap((credential) => (credential.kind === 'Fido2' ? [credential.id] : []))
}
