import { getUser } from '../../../lib/accounts/access.ts'
import type { Wallet } from '../../../lib/accounts/wallet.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { toResult, unwrap } from '../../../lib/core/result.ts'
import { sha256 } from '../../../lib/core/sha256.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getAgreedReader, limitTries, now, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { isSignedBy } from './wallet-proof.ts'

const MAX_WALLETS = 20

/**
 * Links a wallet to the user who requested the message, after the wallet has signed the message. Throws
 * `challenge_expired_or_used`, `invalid_signature`, `wallet_already_linked` or `too_many_wallets`. Throws
 * `invalid_session` if the session has ended meanwhile. If two nodes cannot confirm the signature, it throws their
 * error, and the message can be sent again. Throws `too_many_requests` after too many wrong signatures, because
 * checking one can call a contract that the user chose.
 */
export const handler = endpoint(
  contract,
  { users, limitTries, getReader: getAgreedReader, now },
  ({ users, limitTries, getReader, now }) =>
    async ({ session, body }) => {
      const { clientId, user } = session
      const { message, signature } = body
      const linkedAt = new Date(now())
      const challenge = await users.walletChallenges.get(sha256(message))
      if (challenge?.userId !== user.id || challenge.expiresAt <= linkedAt) {
        throw new AppError('challenge_expired_or_used')
      }
      const takeBack = await limitTries('wallet signature', { clientId, user: user.id })
      const isSigned = await toResult(isSignedBy(challenge, message, signature, getReader))
      if ('error' in isSigned || isSigned.value) await takeBack()
      if (!unwrap(isSigned)) throw new AppError('invalid_signature')
      const taken = await users.walletChallenges.take(sha256(message), linkedAt)
      if (!taken) throw new AppError('challenge_expired_or_used')

      const wallet: Wallet = { address: taken.address, chain: taken.chain, linkedAt }
      if (await users.linkWallet(session, wallet, MAX_WALLETS)) return wallet
      const { wallets } = await getUser(users, session)
      throw new AppError(Object.hasOwn(wallets, wallet.address) ? 'wallet_already_linked' : 'too_many_wallets')
    },
)
