import { wasRefused } from '../aws/requests.ts'
import { AppError } from '../errors.ts'
import { logger } from '../logger.ts'
import type { Credential } from './credential.ts'
import type { UsersStore } from './store.ts'
import type { User } from './user.ts'

type Users = Pick<UsersStore, 'get' | 'claimCredential' | 'getClaim' | 'releaseCredential'>

/** After this many milliseconds nobody is at work any more who has claimed an id and not yet written the user. */
const LONGEST_RUN_MS = 60_000

/**
 * Claims the id of the passkey among new credentials, of which one is a passkey at most, for a user, and makes the change that
 * gives them to the user: a passkey by itself tells who logs in. The id is free again where the change was certainly not made.
 * Throws what `change` throws, and, without it, `credential_already_registered` where the id is taken. `now` is in epoch
 * milliseconds. Other credentials are looked up inside a user who is named: were their ids taken, whoever tried those that a
 * login lists would learn which are no dummies.
 */
export async function withClaim<T>(
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
    if (error instanceof AppError || wasRefused(error)) await releaseIds(users, credentials, user)
    throw error
  }
}

/** Gives back the ids of a user's passkeys, for anybody to register. What is not given back is void soon: no reason to fail. */
export async function releaseIds(
  users: Users,
  credentials: readonly Credential[],
  { userId }: Pick<User, 'userId'>,
): Promise<void> {
  const releasing = passkeyIds(credentials).map((id) => users.releaseCredential(id, { claimedBy: userId }))
  for (const released of await Promise.allSettled(releasing)) {
    if (released.status === 'rejected') logger.warn('id not given back', { reason: String(released.reason) })
  }
}

/** Throws `credential_already_registered` unless these credentials of one user have ids of their own each. */
export function requireOwnIds(credentials: readonly Credential[]): void {
  const ids = credentials.flatMap((credential) => ('id' in credential ? [credential.id] : []))
  if (new Set(ids).size < ids.length) throw new AppError('credential_already_registered')
}

/** Takes an id for a user; false where it is taken by a user who has it, or who may be about to. */
async function claim(users: Users, id: string, user: User, now: number): Promise<boolean> {
  const at = new Date(now)
  if (await users.claimCredential(id, user, at)) return true
  const claimed = await users.getClaim(id)
  if (!claimed || now - claimed.claimedAt.getTime() <= LONGEST_RUN_MS) return false
  const owner = await users.get(claimed)
  if (passkeyIds(Object.values(owner?.credentials ?? {})).includes(id)) return false
  await users.releaseCredential(id, claimed)
  return await users.claimCredential(id, user, at)
}

function passkeyIds(credentials: readonly Credential[]): string[] {
  return credentials.flatMap((credential) => (credential.kind === 'Fido2' ? [credential.id] : []))
}
