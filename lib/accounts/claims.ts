import { AppError } from '../errors.ts'
import type { Credential } from './credential.ts'
import type { UsersStore } from './store.ts'
import type { User } from './user.ts'

type Claims = Pick<UsersStore, 'claimCredential' | 'releaseCredential'>

/**
 * Takes the id of the passkey among new credentials, of which one is a passkey at most, for a user: a passkey by itself tells
 * who logs in. Throws `credential_already_registered` where it is taken. Other credentials are looked up inside a user who is
 * named: were their ids taken, whoever tried those that a login lists would learn which are no dummies.
 */
export async function claimIds(users: Claims, credentials: readonly Credential[], user: User): Promise<void> {
  for (const id of passkeyIds(credentials)) {
    if (!(await users.claimCredential(id, user))) throw new AppError('credential_already_registered')
  }
}

/** Gives back the ids of a user's passkeys, for anybody to register. */
export async function releaseIds(
  users: Claims,
  credentials: readonly Credential[],
  { userId }: Pick<User, 'userId'>,
): Promise<void> {
  await Promise.all(passkeyIds(credentials).map((id) => users.releaseCredential(id, userId)))
}

/** Throws `credential_already_registered` unless these credentials of one user have ids of their own each. */
export function requireOwnIds(credentials: readonly Credential[]): void {
  const ids = credentials.flatMap((credential) => ('id' in credential ? [credential.id] : []))
  if (new Set(ids).size < ids.length) throw new AppError('credential_already_registered')
}

function passkeyIds(credentials: readonly Credential[]): string[] {
  return credentials.flatMap((credential) => (credential.kind === 'Fido2' ? [credential.id] : []))
}
