import { endpoint } from '../../../lib/frame/endpoint.ts'
import { users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users }, ({ users }) => async ({ session }) => {
  await users.sessions.delete(session.hash)
  return undefined
})
