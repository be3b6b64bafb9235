import type { UsersTable } from '../../../lib/identity/table.ts'
import { walletsOf } from '../../../lib/identity/wallets.ts'
import type { Reply, Request } from '../../../lib/lambda/contract.ts'
import { endpoint } from '../../../lib/lambda/endpoint.ts'
import { usersOf } from '../../../lib/lambda/identity.ts'
import { session } from '../../../lib/lambda/session.ts'
import { contract } from './contract.ts'

const list =
  ({ get }: Pick<UsersTable, 'get'>) =>
  async ({ session: { clientId, user } }: Request<typeof contract>): Promise<Reply<typeof contract>> => ({
    wallets: walletsOf(await get({ clientId, email: user.email })),
  })

export const handler = endpoint(contract, (env) => list(usersOf(env)), session)
