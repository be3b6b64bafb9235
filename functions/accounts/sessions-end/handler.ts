import { endSessions, getUser } from '../../../lib/accounts/access.ts'
import { AppError } from '../../../lib/errors.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { randomBytes, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users, randomBytes }, (services) => async ({ session, path }) => {
  await endSessions(services, await getUser(services.users, session), (id, sessions) => {
    if (!Object.hasOwn(sessions, path.id)) throw new AppError('session_not_found')
    return id !== path.id
  })
  return undefined
})
