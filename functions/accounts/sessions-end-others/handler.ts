import { endSessions, getUser } from '../../../lib/accounts/access.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users }, ({ users }) => async ({ session }) => {
  await endSessions(users, await getUser(users, session), (id) => id === session.id, session)
  return undefined
})
