import { getUser } from '../../../lib/accounts/access.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, type Services, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

/** Lists the user's sessions that have not expired, newest first. Throws `invalid_session` if the user no longer exists. */
function listSessions({ users, now }: Services<'users' | 'now'>) {
  return async ({ session }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const user = await getUser(users, session)
    const sessions = Object.entries(user.sessions)
      .filter(([, { expiresAt }]) => expiresAt.getTime() > now())
      .map(([id, { platform = null, createdAt, expiresAt }]) => {
        return { id, platform, createdAt, expiresAt, isCurrent: id === session.id }
      })
    return { sessions: sessions.toSorted((left, right) => right.createdAt.getTime() - left.createdAt.getTime()) }
  }
}

export const handler = endpoint(contract, { users, now }, listSessions)
