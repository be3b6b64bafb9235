import { deleteUser, endSessions } from '../../lib/accounts/access.ts'
import type { User } from '../../lib/accounts/user.ts'
import { type Admin, AdminError } from '../admin.ts'

type UserKey = Pick<User, 'clientId' | 'email'>

/**
 * Sets what an operator decides about a user, and returns the changed user; undefined keeps a field. Throws an AdminError if nothing is
 * given, or there is no such user.
 */
export async function decideUser(
  admin: Admin,
  { clientId, email }: UserKey,
  { kyc, smartGas }: { readonly [Field in 'kyc' | 'smartGas']: User[Field] },
): Promise<User> {
  if (kyc === undefined && smartGas === undefined) throw new AdminError('Give --kyc, --smart-gas-usd, or both.')
  const decisions = { ...(kyc !== undefined && { kyc }), ...(smartGas !== undefined && { smartGas }) }
  await admin.users.decide({ clientId, email }, decisions)
  return getUser(admin, { clientId, email })
}

/** Returns a client's user. Throws an AdminError if there is none. */
export async function getUser({ users }: Admin, { clientId, email }: UserKey): Promise<User> {
  const user = await users.get({ clientId, email })
  if (!user) throw new AdminError(`Client ${clientId} has no user ${email}.`)
  return user
}

/**
 * Ends all sessions of a user, or the one with this id, and returns how many had not expired. Throws an AdminError if there is no such user
 * or session.
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
 * confirmation, throws one that describes the user.
 */
export async function removeUser(admin: Admin, key: UserKey, { isConfirmed }: { isConfirmed: boolean }): Promise<void> {
  const user = await getUser(admin, key)
  if (!isConfirmed) throw new AdminError(`${describeUser(user)} would be deleted, for good. Add --yes to do it.`)
  await deleteUser(admin.users, user)
}

function describeUser({ email, clientId, createdAt, credentials, wallets }: User): string {
  const since = createdAt.toISOString().slice(0, 10)
  const [credentialCount, walletCount] = [credentials, wallets].map((held) => Object.keys(held).length)
  return `User ${email} of client ${clientId} (registered ${since}, credentials: ${credentialCount}, wallets: ${walletCount})`
}
