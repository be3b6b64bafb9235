import { listWallets } from '../../../lib/accounts/user.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users }, ({ users }) => async ({ session: { clientId, user } }) => ({
  wallets: listWallets(await users.get({ clientId, email: user.email })),
}))
