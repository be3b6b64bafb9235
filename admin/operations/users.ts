import { deleteUser, endSessions } from '../../lib/accounts/access.ts'
import type { User } from '../../lib/accounts/user.ts'
import { type Admin, AdminError } from '../admin.ts'

type UserKey = Pick<User, 'clientId' | 'email'>

/**
 * Changes the fields of a user that only an operator sets, and returns the changed user. An undefined field stays unchanged. Throws an
 * AdminError if no field is given, or there is no such user.
 */
export async function updateUserByOperator(
  admin: Admin,
  { clientId, email }: UserKey,
  { kyc, smartGas }: { readonly [Field in 'kyc' | 'smartGas']: User[Field] },
): Promise<User> {
  if (kyc === undefined && smartGas === undefined) throw new AdminError('Give --kyc, --smart-gas-usd, or both.')
  const decisions = { ...(kyc !== undefined && { kyc }), ...(smartGas !== undefined && { smartGas }) }
  await admin.users.decide({ clientId, email }, decisions)
  return getUser(admin, { clientId, email })
}

/** Returns a client's user. Throws an AdminError if there is no such user. */
export async function getUser({ users }: Admin, { clientId, email }: UserKey): Promise<User> {
  const user = await users.get({ clientId, email })
  if (!user) throw new AdminError(`Client ${clientId} has no user ${email}.`)
  return user
}

/**
 * Ends all sessions of a user, or only the one with this id. Returns the number of ended sessions that had not expired. Throws an
 * AdminError if there is no such user or session.
 */
export async function endUserSessions(admin: Admin, key: UserKey, sessionId?: string): Promise<number> {
  const user = await getUser(admin, key)
  const isMeant = (id: string) => sessionId === undefined || id === sessionId
  const meant = Object.entries(user.sessions).filter(([id]) => isMeant(id))
  if (sessionId !== undefined && meant.length === 0) {
    throw new AdminError(`User ${key.email} of client ${key.clientId} has no session ${sessionId}. See list-sessions.`)
  }
  await endSessions(admin.users, user, (id) => !isMeant(id))
  return meant.filter(([, { expiresAt }]) => expiresAt.getTime() > admin.now()).length
}

/**
 * Deletes a user with all credentials, sessions and wallets. Throws an AdminError if there is no such user. Without the operator's
 * confirmation, throws an AdminError that describes the user.
 */
export async function removeUser(admin: Admin, key: UserKey, { isConfirmed }: { isConfirmed: boolean }): Promise<void> {
  const user = await getUser(admin, key)
  if (!isConfirmed) throw new AdminError(`${describeUser(user)} would be deleted, for good. Add --yes to do it.`)
  await deleteUser(admin.users, user)
}

function describeUser({ email, clientId, createdAt, credentials, wallets }: User): string {
  const since = createdAt.toISOString().slice(0, 10)
  const [credentialCount, walletCount] = [credentials, wallets].map((records) => Object.keys(records).length)
  return `User ${email} of client ${clientId} (registered ${since}, credentials: ${credentialCount}, wallets: ${walletCount})`
}
