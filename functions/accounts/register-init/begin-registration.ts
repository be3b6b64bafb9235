import { challengeEnd } from '../../../lib/accounts/challenges.ts'
import { type Credential, PASSKEY_ALGORITHMS } from '../../../lib/accounts/credential.ts'
import { hashToken, randomToken } from '../../../lib/accounts/token.ts'
import { otpUrl, totpSecret } from '../../../lib/accounts/totp.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import type { Services } from '../../../lib/services.ts'
import type { contract } from './contract.ts'

/** The kinds of credentials that each factor can be. */
const SUPPORTED_KINDS: Record<'firstFactor' | 'secondFactor', Credential['kind'][]> = {
  firstFactor: ['Fido2', 'Key', 'Password', 'PasswordProtectedKey'],
  secondFactor: ['Fido2', 'Key', 'Totp', 'PasswordProtectedKey'],
}

type Dependencies = Services<'users' | 'limitChallenges' | 'relyingParty' | 'identityKey' | 'randomBytes' | 'now'>

/**
 * Starts a registration: what a client needs to make credentials, and the token with which to hand them over, once,
 * within ten minutes. Whether the e-mail address is known is not looked at. Throws `too_many_requests`.
 */
export function beginRegistration({
  users,
  limitChallenges,
  relyingParty,
  identityKey,
  randomBytes,
  now,
}: Dependencies) {
  return async (request: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { email } = request.body
    const { platform } = request.headers
    await limitChallenges('register', request.requestContext.http.sourceIp, email)
    const [token, userId, challenge] = [randomToken(randomBytes), randomToken(randomBytes), randomToken(randomBytes)]
    const expiresAt = challengeEnd(now())
    await users.registrations.put(hashToken(token), { email, platform, userId, challenge, expiresAt })
    return {
      temporaryAuthenticationToken: token,
      publicKeyCredentialCreationOptions: {
        attestation: 'none' as const,
        authenticatorSelection: {
          requireResidentKey: true as const,
          residentKey: 'required' as const,
          userVerification: 'required' as const,
        },
        challenge,
        excludeCredentials: [],
        otpUrl: otpUrl(totpSecret(identityKey, challenge), { issuer: relyingParty.name, account: email }),
        pubKeyCredParams: PASSKEY_ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
        rp: { id: relyingParty.id, name: relyingParty.name },
        supportedCredentialKinds: SUPPORTED_KINDS,
        temporaryAuthenticationToken: token,
        user: { displayName: email, id: userId, name: email },
      },
    }
  }
}
