import { walletsOf } from '../../../lib/accounts/wallets.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { type Services, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

const listWallets =
  ({ users }: Services<'users'>) =>
  async ({ session: { clientId, user } }: Request<typeof contract>): Promise<Reply<typeof contract>> => ({
    wallets: walletsOf(await users.get({ clientId, email: user.email })),
  })

export const handler = endpoint(contract, { users }, listWallets)
