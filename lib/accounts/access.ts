import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../core/errors.ts'
import { releasePasskeyIds } from './claims.ts'
import type { Session } from './session.ts'
import type { UsersStore } from './store.ts'
import type { Access, User } from './user.ts'

/** Maximum number of times that a change of a user is tried while other requests change the same user. */
const MAX_TRIES = 5

/**
 * Changes a user's credentials and sessions. Calls `change` again if another request changed the user meanwhile, so no
 * change is lost. A result without changes is not written, so repeated requests cannot block other changes. Removed
 * sessions are deleted before the write. The ids of removed credentials are released after the write. Returns the
 * changed user. Throws the errors of `change`, and `invalid_session` if the user or the calling session no longer
 * exists. Throws `too_many_requests` if other requests keep changing the user.
 */
export async function changeAccess(
  users: UsersStore,
  user: User,
  change: (user: User) => Access | Promise<Access>,
  session?: Session,
): Promise<User> {
  let current = user
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const access = await change(current)
    const { credentials, sessions } = current
    if (isDeepStrictEqual(access, { credentials, sessions })) return current
    const ended = listGone(sessions, access.sessions)
    await Promise.all(ended.map(({ hash }) => users.sessions.delete(hash)))
    if (await users.putAccess(current, access)) {
      await releasePasskeyIds(users, listGone(credentials, access.credentials), user)
      return { ...current, ...access }
    }
    current = requireSame(await users.get(user), user.userId, session)
  }
  throw buildContendedError()
}

function listGone<T>(before: Readonly<Record<string, T>>, after: Readonly<Record<string, T>>): T[] {
  return Object.entries(before).flatMap(([id, one]) => (Object.hasOwn(after, id) ? [] : [one]))
}

/** Returns the user of a session. Throws `invalid_session` if the user or the session no longer exists. */
export async function getUser(users: UsersStore, session: Session): Promise<User> {
  const { clientId, user } = session
  return requireSame(await users.get({ clientId, email: user.email }), user.id, session)
}

function requireSame(user: User | null, userId: string, session: Session | undefined): User {
  const isOpen = session === undefined || Object.hasOwn(user?.sessions ?? {}, session.id)
  if (user?.userId !== userId || !isOpen) throw new AppError('invalid_session')
  return user
}

/**
 * Ends the sessions for which `isKept` returns false. `session` is the session that makes the request, if there is one.
 * Throws the errors of `changeAccess` and `isKept`.
 */
export function endSessions(
  users: UsersStore,
  user: User,
  isKept: (id: string, sessions: User['sessions']) => boolean,
  session?: Session,
): Promise<User> {
  const change = ({ credentials, sessions }: User) => {
    const kept = Object.entries(sessions).filter(([id]) => isKept(id, sessions))
    return { credentials, sessions: Object.fromEntries(kept) }
  }
  return changeAccess(users, user, change, session)
}

/**
 * Deletes a user with all sessions and credentials, even if another request changes the user meanwhile. Returns
 * normally if the user no longer exists. Throws `invalid_session` if the session that makes the request has ended.
 * Throws `too_many_requests` if other requests keep changing the user.
 */
export async function deleteUser(users: UsersStore, user: User, session?: Session): Promise<void> {
  let current = user
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { userId, sessions, credentials } = current
    await Promise.all(Object.values(sessions).map(({ hash }) => users.sessions.delete(hash)))
    const left = (await users.deleteUser(current)) ? null : await users.get(user)
    if (left?.userId !== userId) return await releasePasskeyIds(users, Object.values(credentials), current)
    current = requireSame(left, userId, session)
  }
  throw buildContendedError()
}

function buildContendedError(): AppError {
  return new AppError('too_many_requests', { headers: { 'retry-after': '1' } })
}
