import type { UsersStore } from '../../../lib/accounts/store.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { usersOf } from '../../../lib/frame/identity.ts'
import { session } from '../../../lib/frame/session.ts'
import { contract } from './contract.ts'

const unlink =
  ({ unlinkWallet }: Pick<UsersStore, 'unlinkWallet'>) =>
  async ({ session: { clientId, user }, path }: Request<typeof contract>): Promise<undefined> => {
    const wasLinked = await unlinkWallet({ clientId, email: user.email }, path.address.address)
    if (!wasLinked) throw new AppError('wallet_not_found')
  }

export const handler = endpoint(contract, (env) => unlink(usersOf(env)), session)
