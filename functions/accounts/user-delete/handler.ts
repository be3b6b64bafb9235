import { deleteUser, getUser } from '../../../lib/accounts/access.ts'
import { requireFreshLogin } from '../../../lib/accounts/session.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users, now }, ({ users, now }) => async ({ session }) => {
  requireFreshLogin(session, now())
  await deleteUser(users, await getUser(users, session), session)
  return undefined
})
