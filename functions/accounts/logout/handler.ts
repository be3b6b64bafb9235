import { endSessions } from '../../../lib/accounts/access.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users }, ({ users }) => async ({ session }) => {
  const { clientId, hash, user } = session
  await users.sessions.delete(hash)
  const owner = await users.get({ clientId, email: user.email })
  if (owner?.userId === user.id) await endSessions(users, owner, (id) => id !== session.id)
  return undefined
})
