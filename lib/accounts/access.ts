import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../errors.ts'
import { releaseIds } from './claims.ts'
import type { Session } from './session.ts'
import type { UsersStore } from './store.ts'
import type { Access, User } from './user.ts'

/** How often a change is made anew because another one came between. */
const MOST_TRIES = 5

/**
 * Changes what opens a user's account: `change` gives it anew from what is there, again where another change came between,
 * so that none is lost and of two that exclude each other one wins. What changes nothing is not written, or whoever asks
 * for it all the time would keep others from their changes. Sessions that are not in it any more have ended before it is
 * written; the ids of credentials that are not in it any more are free after it. Gives the user as changed. Throws what
 * `change` throws, `invalid_session` where the user is no more, or the session that asks has ended, and
 * `too_many_requests` where others change it all the time.
 */
export async function changeAccess(
  users: UsersStore,
  user: User,
  change: (user: User) => Access | Promise<Access>,
  session?: Session,
): Promise<User> {
  let current = user
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const access = await change(current)
    const { credentials, sessions } = current
    if (isDeepStrictEqual(access, { credentials, sessions })) return current
    const ended = listGone(sessions, access.sessions)
    await Promise.all(ended.map(({ hash }) => users.sessions.delete(hash)))
    if (await users.putAccess(current, access)) {
      await releaseIds(users, listGone(credentials, access.credentials), user)
      return { ...current, ...access }
    }
    current = requireSame(await users.get(user), user.userId, session)
  }
  throw contended()
}

/** What was there before under names that are gone. */
function listGone<T>(before: Readonly<Record<string, T>>, after: Readonly<Record<string, T>>): T[] {
  return Object.entries(before).flatMap(([id, one]) => (Object.hasOwn(after, id) ? [] : [one]))
}

/** The user of a session. Throws `invalid_session` where the user is no more, or has ended the session. */
export async function getUser(users: UsersStore, session: Session): Promise<User> {
  const { clientId, user } = session
  return requireSame(await users.get({ clientId, email: user.email }), user.id, session)
}

/** The user, where it is still this one and has this session; throws `invalid_session`. */
function requireSame(user: User | null, userId: string, session: Session | undefined): User {
  const isOpen = session === undefined || Object.hasOwn(user?.sessions ?? {}, session.id)
  if (user?.userId !== userId || !isOpen) throw new AppError('invalid_session')
  return user
}

/**
 * Ends those of a user's sessions that are not kept; `session` is the one that asks, where one does. Throws what
 * `changeAccess` does, and what `isKept` throws.
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
 * Deletes a user with everything that the user has, also where something changes meanwhile. A user that is no more is
 * deleted. Throws `invalid_session` where the session that asks has ended, and `too_many_requests` where others change the
 * user all the time.
 */
export async function deleteUser(users: UsersStore, user: User, session?: Session): Promise<void> {
  let current = user
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const { userId, sessions, credentials } = current
    await Promise.all(Object.values(sessions).map(({ hash }) => users.sessions.delete(hash)))
    const left = (await users.deleteUser(current)) ? null : await users.get(user)
    if (left?.userId !== userId) return await releaseIds(users, Object.values(credentials), current)
    current = requireSame(left, userId, session)
  }
  throw contended()
}

function contended(): AppError {
  return new AppError('too_many_requests', { headers: { 'retry-after': '1' } })
}
