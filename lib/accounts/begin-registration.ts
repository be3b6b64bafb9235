import type { RandomBytes } from '../clients/api-key.ts'
import { challengeEnd } from './challenges.ts'
import { type Credential, PASSKEY_ALGORITHMS } from './credential.ts'
import type { Limiter } from './limits.ts'
import type { Platform, RelyingParty } from './relying-party.ts'
import type { UsersStore } from './store.ts'
import { hashToken, randomToken } from './token.ts'
import { otpUrl, totpSecret } from './totp.ts'

/** The kinds of credentials that each factor can be. */
const SUPPORTED_KINDS: Record<'firstFactor' | 'secondFactor', Credential['kind'][]> = {
  firstFactor: ['Fido2', 'Key', 'Password', 'PasswordProtectedKey'],
  secondFactor: ['Fido2', 'Key', 'Totp', 'PasswordProtectedKey'],
}

type Dependencies = {
  readonly users: Pick<UsersStore, 'registrations'>
  readonly limit: Limiter
  readonly relyingParty: RelyingParty
  /** The service's own key, from which the secrets of one-time codes follow. */
  readonly key: string
  readonly randomBytes: RandomBytes
  /** Epoch milliseconds. */
  readonly now: () => number
}

/**
 * Starts a registration: what a client needs to make credentials, and the token with which to hand them over, once,
 * within ten minutes. Whether the e-mail address is known is not looked at. Throws `too_many_requests`.
 */
export function beginRegistration({ users, limit, relyingParty, key, randomBytes, now }: Dependencies) {
  return async (email: string, platform: Platform, sourceIp: string) => {
    await limit('register', sourceIp, email)
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
        otpUrl: otpUrl(totpSecret(key, userId), { issuer: relyingParty.name, account: email }),
        pubKeyCredParams: PASSKEY_ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
        rp: { id: relyingParty.id, name: relyingParty.name },
        supportedCredentialKinds: SUPPORTED_KINDS,
        temporaryAuthenticationToken: token,
        user: { displayName: email, id: userId, name: email },
      },
    }
  }
}
