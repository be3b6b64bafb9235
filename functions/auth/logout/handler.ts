import type { UsersTable } from '../../../lib/identity/table.ts'
import type { Request } from '../../../lib/lambda/contract.ts'
import { endpoint } from '../../../lib/lambda/endpoint.ts'
import { usersOf } from '../../../lib/lambda/identity.ts'
import { session } from '../../../lib/lambda/session.ts'
import { contract } from './contract.ts'

const logout =
  ({ end }: { end: UsersTable['sessions']['delete'] }) =>
  async ({ session }: Request<typeof contract>): Promise<undefined> => {
    await end(session.hash)
  }

export const handler = endpoint(contract, (env) => logout({ end: usersOf(env).sessions.delete }), session)
