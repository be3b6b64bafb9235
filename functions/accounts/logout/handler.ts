import type { Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { type Services, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

const logOut =
  ({ users }: Services<'users'>) =>
  async ({ session }: Request<typeof contract>): Promise<undefined> => {
    await users.sessions.delete(session.hash)
  }

export const handler = endpoint(contract, { users }, logOut)
