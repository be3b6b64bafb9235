import type { UsersStore } from '../../../lib/accounts/store.ts'
import type { Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { usersOf } from '../../../lib/frame/identity.ts'
import { session } from '../../../lib/frame/session.ts'
import { contract } from './contract.ts'

const logout =
  ({ end }: { end: UsersStore['sessions']['delete'] }) =>
  async ({ session }: Request<typeof contract>): Promise<undefined> => {
    await end(session.hash)
  }

export const handler = endpoint(contract, (env) => logout({ end: usersOf(env).sessions.delete }), session)
