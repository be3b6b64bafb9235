import { endSessions } from '../../../lib/accounts/access.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { randomBytes, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users, randomBytes }, (services) => async ({ session }) => {
  const { clientId, hash, user } = session
  await services.users.sessions.delete(hash)
  const owner = await services.users.get({ clientId, email: user.email })
  if (owner?.userId === user.id) await endSessions(services, owner, (id) => id !== session.id)
  return undefined
})
