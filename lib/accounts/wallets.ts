import { AppError } from '../errors.ts'
import type { User } from './user.ts'
import type { Wallet } from './wallet.ts'

/** The wallets of a user, the first linked first; throws `invalid_session` where the user is no more. */
export function walletsOf(user: User | null): Wallet[] {
  if (!user) throw new AppError('invalid_session')
  const wallets = Object.entries(user.wallets).map(([address, wallet]) => ({ address, ...wallet }))
  return wallets.sort((left, right) => left.linkedAt.getTime() - right.linkedAt.getTime())
}
