import type { RandomBytes } from '../clients/api-key.ts'
import { AppError } from '../errors.ts'
import type { UsersStore } from './store.ts'
import { randomToken } from './token.ts'
import type { Access, User } from './user.ts'

type Dependencies = { readonly users: UsersStore; readonly randomBytes: RandomBytes }

/** How often a change is made anew because another one came between. */
const MOST_TRIES = 5

/**
 * Changes what opens a user's account: `change` gives it anew from what is there, again where another change came between,
 * so that none is lost and of two that exclude each other one wins. Sessions that are not in it any more have ended before
 * it is written. Gives the user as changed. Throws what `change` throws, `invalid_session` where the user is no more, and
 * `too_many_requests` where others change it all the time.
 */
export async function changeAccess(
  { users, randomBytes }: Dependencies,
  user: User,
  change: (user: User) => Access | Promise<Access>,
): Promise<User> {
  const changeId = randomToken(randomBytes)
  let current: User | null = user
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const access = await change(current)
    const ended = Object.entries(current.sessions).filter(([id]) => !(id in access.sessions))
    await Promise.all(ended.map(([, { hash }]) => users.sessions.delete(hash)))
    if (await users.putAccess(current, access, changeId)) return { ...current, ...access }
    current = await users.get(user)
    if (current?.userId !== user.userId) throw new AppError('invalid_session')
    // The write may have been ours, of which the answer was lost.
    if (current.changeId === changeId) return current
  }
  throw new AppError('too_many_requests', { headers: { 'retry-after': '1' } })
}
