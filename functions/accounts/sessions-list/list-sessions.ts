import { getUser } from '../../../lib/accounts/access.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import type { Services } from '../../../lib/services.ts'
import type { contract } from './contract.ts'

/** Lists the sessions of a user that have not ended. Throws `invalid_session` where the user is no more. */
export function listSessions({ users, now }: Services<'users' | 'now'>) {
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
