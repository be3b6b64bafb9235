import { AppError } from '../../../lib/errors.ts'
import type { Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { type Services, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

const unlinkWallet =
  ({ users }: Services<'users'>) =>
  async ({ session: { clientId, user }, path }: Request<typeof contract>): Promise<undefined> => {
    const wasLinked = await users.unlinkWallet({ clientId, email: user.email }, path.address.address)
    if (!wasLinked) throw new AppError('wallet_not_found')
  }

export const handler = endpoint(contract, { users }, unlinkWallet)
