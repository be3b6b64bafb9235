import type { UsersStore } from '../../../lib/accounts/store.ts'
import { walletsOf } from '../../../lib/accounts/wallets.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { usersOf } from '../../../lib/frame/identity.ts'
import { session } from '../../../lib/frame/session.ts'
import { contract } from './contract.ts'

const list =
  ({ get }: Pick<UsersStore, 'get'>) =>
  async ({ session: { clientId, user } }: Request<typeof contract>): Promise<Reply<typeof contract>> => ({
    wallets: walletsOf(await get({ clientId, email: user.email })),
  })

export const handler = endpoint(contract, (env) => list(usersOf(env)), session)
