import {
  assignIds,
  createAttestationVerifier,
  findTemporaryToken,
  isPasswordOnly,
  requireFields,
} from '../../../lib/accounts/attestation.ts'
import { requireDistinctIds, withClaimedId } from '../../../lib/accounts/claims.ts'
import { listOrigins } from '../../../lib/accounts/relying-party.ts'
import type { User } from '../../../lib/accounts/user.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { sha256 } from '../../../lib/core/sha256.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { identityKeys, now, randomBytes, relyingParty, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

/**
 * Completes a registration. The token of the request can be used only once, even if the attempt fails. Throws
 * `registration_expired_or_used`, `invalid_credential` with every failed check, `credential_already_registered` or
 * `user_already_registered`.
 */
export const handler = endpoint(
  contract,
  { users, relyingParty, identityKeys, randomBytes, now },
  ({ users, relyingParty, identityKeys, randomBytes, now }) => {
    const attest = createAttestationVerifier({ identityKeys, randomBytes, now })
    return async (request) => {
      const { clientId } = request.client
      const credentials = request.body.signedChallenge ?? request.body
      const { temporaryAuthenticationToken: token } = requireFields({
        temporaryAuthenticationToken: findTemporaryToken(request),
        firstFactorCredential: credentials.firstFactorCredential,
        ...(isPasswordOnly(credentials) && { secondFactorCredential: undefined }),
      })
      const createdAt = new Date(now())
      const registration = await users.registrations.take(sha256(token), createdAt)
      if (!registration) throw new AppError('registration_expired_or_used')

      const { email, platform, userId, challenge } = registration
      const origins = listOrigins(relyingParty, platform)
      const made = await attest(credentials, { challenge, origins, rpId: relyingParty.id, userHandle: userId })
      requireDistinctIds(made)
      const user: User = {
        ...{ clientId, email, userId, createdAt },
        credentials: assignIds(made, randomBytes),
        ...{ sessions: {}, version: 0, wallets: {} },
      }

      const change = async () => {
        if (!(await users.create(user))) throw new AppError('user_already_registered')
      }
      await withClaimedId(users, made, user, { now: now(), change })
      return undefined
    }
  },
)
