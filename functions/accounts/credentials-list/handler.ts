import { getUser } from '../../../lib/accounts/access.ts'
import { listCredentials } from '../../../lib/accounts/credential-entry.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users }, ({ users }) => async ({ session }) => ({
  credentials: listCredentials(await getUser(users, session)),
}))
