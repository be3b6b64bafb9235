import { getChallengeExpiry } from '../../../lib/accounts/challenges.ts'
import { buildCreationOptions } from '../../../lib/accounts/enrolment.ts'
import { randomToken } from '../../../lib/accounts/token.ts'
import { sha256 } from '../../../lib/core/sha256.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { identityKeys, limitTries, now, randomBytes, relyingParty, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

/**
 * Starts a registration. Returns the WebAuthn options for new credentials, and a token that must come with the new
 * credentials. The token works once, within ten minutes. Does not check if the e-mail address is already registered, so
 * callers cannot find out which users exist. Throws `too_many_requests`.
 */
export const handler = endpoint(
  contract,
  { users, limitTries, relyingParty, identityKeys, randomBytes, now },
  ({ users, limitTries, relyingParty, identityKeys, randomBytes, now }) =>
    async (request) => {
      const { email } = request.body
      const { platform } = request.headers
      await limitTries('registration', { sourceIp: request.requestContext.http.sourceIp })
      const [token, userId, challenge] = [randomToken(randomBytes), randomToken(randomBytes), randomToken(randomBytes)]
      const expiresAt = getChallengeExpiry(now())
      await users.registrations.put(sha256(token), { email, platform, userId, challenge, expiresAt })
      const enrolled = { email, userHandle: userId, challenge, token }
      const options = buildCreationOptions({ relyingParty, identityKeys }, enrolled)
      return {
        temporaryAuthenticationToken: token,
        publicKeyCredentialCreationOptions: { ...options, excludeCredentials: [] },
      }
    },
)
