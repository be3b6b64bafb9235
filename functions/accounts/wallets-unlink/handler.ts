import { AppError } from '../../../lib/errors.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { users }, ({ users }) => async ({ session: { clientId, user }, path }) => {
  const wasLinked = await users.unlinkWallet({ clientId, email: user.email }, path.address.address)
  if (!wasLinked) throw new AppError('wallet_not_found')
  return undefined
})
