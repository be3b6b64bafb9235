import { AppError } from '../errors.ts'
import type { Credential } from './credential.ts'
import type { UsersStore } from './store.ts'
import type { User } from './user.ts'

type Claims = Pick<UsersStore, 'claimCredential' | 'releaseCredential'>

/** Takes the ids of new credentials for a user; throws `credential_already_registered` where one is taken, and takes none then. */
export async function claimIds(users: Claims, credentials: readonly Credential[], user: User): Promise<void> {
  const claiming = idsOf(credentials).map(async (id) => ({ id, isClaimed: await users.claimCredential(id, user) }))
  const claims = await Promise.all(claiming)
  if (claims.every(({ isClaimed }) => isClaimed)) return
  const claimed = claims.filter(({ isClaimed }) => isClaimed)
  await Promise.all(claimed.map(({ id }) => users.releaseCredential(id, user.userId)))
  throw new AppError('credential_already_registered')
}

/** Gives back the ids of a user's credentials, for anybody to register. */
export async function releaseIds(
  users: Claims,
  credentials: readonly Credential[],
  { userId }: Pick<User, 'userId'>,
): Promise<void> {
  await Promise.all(idsOf(credentials).map((id) => users.releaseCredential(id, userId)))
}

/** The ids of keys and passkeys; other credentials have none. */
function idsOf(credentials: readonly Credential[]): string[] {
  return credentials.flatMap((credential) => ('id' in credential ? [credential.id] : []))
}
