import { changeAccess, getUser } from '../../../lib/accounts/access.ts'
import { requireFreshLogin } from '../../../lib/accounts/session.ts'
import { lacksSecondFactor, type User } from '../../../lib/accounts/user.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

/**
 * Removes a credential if the remaining ones are enough to log in. Throws `fresh_login_required`, `credential_not_found`,
 * `last_first_factor` or `last_second_factor`.
 */
export const handler = endpoint(contract, { users, now }, ({ users, now }) => async ({ session, path }) => {
  requireFreshLogin(session, now())
  const user = await getUser(users, session)
  const withoutIt = ({ credentials, sessions }: User) => {
    const { [path.id]: removed, ...left } = credentials
    if (!removed) throw new AppError('credential_not_found')
    if (!Object.values(left).some(({ factor }) => factor === 'first')) throw new AppError('last_first_factor')
    if (lacksSecondFactor(left)) throw new AppError('last_second_factor')
    return { credentials: left, sessions }
  }
  await changeAccess(users, user, withoutIt, session)
  return undefined
})
