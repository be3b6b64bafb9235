import { getChallengeExpiry } from '../../../lib/accounts/challenges.ts'
import { requireFreshLogin } from '../../../lib/accounts/session.ts'
import { randomBase62 } from '../../../lib/clients/api-key.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { sha256 } from '../../../lib/core/sha256.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, randomBytes, relyingParty, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { buildWalletMessage } from './wallet-message.ts'

/**
 * Starts to link a wallet to a user. Returns the message that the wallet must sign within ten minutes. The message
 * names the calling page's origin if that is one of the service's web origins. Wallets compare the named origin with
 * the page's origin. Throws `fresh_login_required` if the session is older than ten minutes.
 */
export const handler = endpoint(
  contract,
  { users, relyingParty, randomBytes, now },
  ({ users, relyingParty, randomBytes, now }) =>
    async (request) => {
      const { session, headers, body } = request
      requireFreshLogin(session, now())
      const { address, chain } = body.address
      if (chain !== body.chain) {
        const issue = `is not an address of ${body.chain}`
        throw new AppError('missing_or_invalid_address', { details: [{ field: 'address', issue }] })
      }
      const uri = relyingParty.webOrigins.find((origin) => origin === headers.origin) ?? `https://${relyingParty.id}`
      const wallet = { address, chain, chainId: body.chainId }
      const challenge = { ...wallet, userId: session.user.id, expiresAt: getChallengeExpiry(now()) }
      const nonce = randomBase62(32, randomBytes)
      const message = buildWalletMessage(challenge, {
        uri,
        domain: new URL(uri).host,
        nonce,
        issuedAt: new Date(now()),
      })
      // The hash of the message is the key of the stored challenge. So a signed message with another domain, nonce or
      // chain finds no challenge.
      await users.walletChallenges.put(sha256(message), challenge)
      return { message, expiresAt: challenge.expiresAt }
    },
)
