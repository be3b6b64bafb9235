import { walletsOf } from '../../../lib/accounts/wallets.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users }, ({ users }) => async ({ session: { clientId, user } }) => ({
  wallets: walletsOf(await users.get({ clientId, email: user.email })),
}))
