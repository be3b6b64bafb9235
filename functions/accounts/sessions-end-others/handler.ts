import { endSessions, getUser } from '../../../lib/accounts/access.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { randomBytes, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users, randomBytes }, (services) => async ({ session }) => {
  await endSessions(services, await getUser(services.users, session), (id) => id === session.id)
  return undefined
})
