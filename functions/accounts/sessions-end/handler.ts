import { endSessions, getUser } from '../../../lib/accounts/access.ts'
import { requireFreshLogin } from '../../../lib/accounts/session.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users, now }, ({ users, now }) => async ({ session, path }) => {
  if (path.id !== session.id) requireFreshLogin(session, now())
  const isKept = (id: string, sessions: object) => {
    if (!Object.hasOwn(sessions, path.id)) throw new AppError('session_not_found')
    return id !== path.id
  }
  await endSessions(users, await getUser(users, session), isKept, session)
  return undefined
})
