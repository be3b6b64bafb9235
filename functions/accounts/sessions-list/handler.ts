import { getUser } from '../../../lib/accounts/access.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

/** Lists the user's sessions that have not expired, newest first. Throws `invalid_session` if the user no longer exists. */
export const handler = endpoint(contract, { users, now }, ({ users, now }) => async ({ session }) => {
  const user = await getUser(users, session)
  const sessions = Object.entries(user.sessions)
    .filter(([, { expiresAt }]) => expiresAt.getTime() > now())
    .map(([id, { platform = null, createdAt, expiresAt }]) => {
      return { id, platform, createdAt, expiresAt, isCurrent: id === session.id }
    })
  return { sessions: sessions.toSorted((left, right) => right.createdAt.getTime() - left.createdAt.getTime()) }
})
