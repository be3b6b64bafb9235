import { getUser } from '../../../lib/accounts/access.ts'
import { getChallengeExpiry } from '../../../lib/accounts/challenges.ts'
import { buildCreationOptions } from '../../../lib/accounts/enrolment.ts'
import { randomToken } from '../../../lib/accounts/token.ts'
import { sha256 } from '../../../lib/core/sha256.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { identityKeys, now, randomBytes, relyingParty, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

/**
 * Starts the addition of a credential. Returns the WebAuthn options for the new credential, a challenge that one of the
 * user's existing credentials must confirm, and a token. The client sends the token with the new credential and the
 * proof of the existing one. The token works once, within ten minutes.
 */
export const handler = endpoint(
  contract,
  { users, relyingParty, identityKeys, randomBytes, now },
  ({ users, relyingParty, identityKeys, randomBytes, now }) =>
    async ({ session, headers }) => {
      const { id: userId, email } = session.user
      const [token, challenge] = [randomToken(randomBytes), randomToken(randomBytes)]
      const challengeItem = { userId, platform: headers.platform, challenge, expiresAt: getChallengeExpiry(now()) }
      const [{ credentials }] = await Promise.all([
        getUser(users, session),
        users.credentialChallenges.put(sha256(token), challengeItem),
      ])

      const idsOf = (kind: 'Fido2' | 'Key' | 'PasswordProtectedKey') =>
        Object.values(credentials).flatMap((credential) => (credential.kind === kind ? [credential.id] : []))
      const allowed = (kind: Parameters<typeof idsOf>[0]) =>
        idsOf(kind).map((id) => ({ type: 'public-key' as const, id }))
      const enrolled = { email, userHandle: userId, challenge, token, passkeys: idsOf('Fido2') }
      const options = buildCreationOptions({ relyingParty, identityKeys }, enrolled)
      return {
        temporaryAuthenticationToken: token,
        publicKeyCredentialCreationOptions: options,
        confirmation: {
          challenge,
          rp: options.rp,
          userVerification: 'required' as const,
          allowCredentials: {
            webauthn: options.excludeCredentials,
            key: allowed('Key'),
            passwordProtectedKey: allowed('PasswordProtectedKey'),
          },
        },
      }
    },
)
