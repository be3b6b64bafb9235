import { getUser } from '../../../lib/accounts/access.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users }, ({ users }) => async ({ session, path }) => {
  const { address } = path.address
  const requireWallet = async () => {
    const { wallets } = await getUser(users, session)
    if (!Object.hasOwn(wallets, address)) throw new AppError('wallet_not_found')
  }
  await requireWallet()
  if (!(await users.unlinkWallet(session, address))) await requireWallet()
  return undefined
})
