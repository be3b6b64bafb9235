import { changeAccess } from '../../../lib/accounts/access.ts'
import {
  assignIds,
  createAttestationVerifier,
  findTemporaryToken,
  isPasswordOnly,
  requireFields,
} from '../../../lib/accounts/attestation.ts'
import { authenticateRecovery } from '../../../lib/accounts/authentication.ts'
import { requireDistinctIds, withClaimedId } from '../../../lib/accounts/claims.ts'
import { listOrigins } from '../../../lib/accounts/relying-party.ts'
import type { User } from '../../../lib/accounts/user.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { type Result, toResult } from '../../../lib/core/result.ts'
import { sha256 } from '../../../lib/core/sha256.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { identityKeys, now, randomBytes, relyingParty, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

/**
 * Completes an account recovery. The new credentials replace all others, and all sessions end. The token of the request
 * can be used only once, even if the attempt fails. Throws `registration_expired_or_used`, or `recovery_failed` without
 * the reason. After a valid proof of the recovery key it throws `invalid_credential` with every failed check, or
 * `credential_already_registered`. For an unknown user it does the same work before `recovery_failed`. So the duration
 * does not reveal that the user is unknown.
 */
export const handler = endpoint(
  contract,
  { users, relyingParty, identityKeys, randomBytes, now },
  ({ users, relyingParty, identityKeys, randomBytes, now }) => {
    const attest = createAttestationVerifier({ identityKeys, randomBytes, now })
    return async (request) => {
      const { clientId } = request.client
      const { body } = request
      const { temporaryAuthenticationToken, recovery, newCredentials } = requireFields({
        temporaryAuthenticationToken: findTemporaryToken(request),
        recovery: body.recovery ?? body.signedRecoveryPackage,
        newCredentials: body.newCredentials,
        ...(isPasswordOnly(body.newCredentials ?? {}) && { 'newCredentials.secondFactorCredential': undefined }),
      })
      const started = await users.recoveries.take(sha256(temporaryAuthenticationToken), new Date(now()))
      if (started?.clientId !== clientId) throw new AppError('registration_expired_or_used')

      const { email, platform, challenge, userHandle } = started
      const expected = { challenge, origins: listOrigins(relyingParty, platform), rpId: relyingParty.id }
      const verify = async (current: User | null) =>
        recovered(await toResult(authenticateRecovery(current, recovery, { ...expected, credentials: newCredentials })))
      const user = await verify(await users.get({ clientId, email }))

      const made = await attest(newCredentials, { ...expected, userHandle })
      requireDistinctIds([...Object.values(user.credentials), ...made])
      const credentials = assignIds(made, randomBytes)
      const change = async () => {
        const changing = changeAccess(users, user, async (current) => {
          if (current !== user) await verify(current)
          return { credentials, sessions: {} }
        })
        recovered(await toResult(changing))
      }
      await withClaimedId(users, made, user, { now: now(), change })
      return undefined
    }
  },
)

/** Returns the user if the recovery succeeded. Otherwise throws `recovery_failed`. */
function recovered(result: Result<User>): User {
  if ('error' in result) throw new AppError('recovery_failed', { cause: result.error })
  return result.value
}
