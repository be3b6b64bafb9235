import { createHmac } from 'node:crypto'
import { getChallengeExpiry } from '../../../lib/accounts/challenges.ts'
import { randomToken } from '../../../lib/accounts/token.ts'
import { MAX_CREDENTIALS, type User } from '../../../lib/accounts/user.ts'
import { sha256 } from '../../../lib/core/sha256.ts'
import type { Reply } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { identityKeys, now, randomBytes, relyingParty, users } from '../../../lib/services.ts'
import { contract } from './contract.ts'

const SUPPORTED_KINDS: Reply<typeof contract>['supportedCredentialKinds'] = [
  { kind: 'Fido2', factor: 'either', requiresSecondFactor: false },
  { kind: 'Key', factor: 'either', requiresSecondFactor: false },
  { kind: 'PasswordProtectedKey', factor: 'either', requiresSecondFactor: false },
  { kind: 'Password', factor: 'first', requiresSecondFactor: true },
  { kind: 'Totp', factor: 'second', requiresSecondFactor: false },
]

/**
 * Starts a login. Returns a challenge for one attempt within ten minutes, and the ids of the user's keys that may sign
 * it. An unknown e-mail address gets the same dummy ids each time, so callers cannot find out which users exist.
 * Passkeys are not listed. Authenticators find passkeys without a list, and the different lengths of passkey ids would
 * reveal the dummies.
 */
export const handler = endpoint(
  contract,
  { users, relyingParty, identityKeys, randomBytes, now },
  ({ users, relyingParty, identityKeys, randomBytes, now }) => {
    const listed = (user: User | null, kind: 'Key' | 'PasswordProtectedKey', subject: string) => {
      const own = Object.values(user?.credentials ?? {}).flatMap((held) => (held.kind === kind ? [held.id] : []))
      const dummies = Array.from({ length: MAX_CREDENTIALS }, (_, i) =>
        createHmac('sha256', identityKeys[0]).update(`credential ${kind} ${i} ${subject}`).digest('base64url'),
      )
      // The real and the dummy ids are sorted together, so their order does not reveal which ids are dummies.
      const ids = [...own, ...dummies].slice(0, MAX_CREDENTIALS).sort()
      return ids.map((id) => ({ type: 'public-key' as const, id }))
    }
    return async (request) => {
      const { clientId } = request.client
      const { email } = request.body
      const [challengeIdentifier, challenge] = [randomToken(randomBytes), randomToken(randomBytes)]
      const challengeItem = { clientId, email, challenge, expiresAt: getChallengeExpiry(now()) }
      const [user] = await Promise.all([
        email === undefined ? null : users.get({ clientId, email }),
        users.loginChallenges.put(sha256(challengeIdentifier), challengeItem),
      ])
      const allowed = (kind: 'Key' | 'PasswordProtectedKey') =>
        email === undefined ? [] : listed(user, kind, `${clientId} ${email}`)
      return {
        challenge,
        challengeIdentifier,
        rp: { id: relyingParty.id, name: relyingParty.name },
        userVerification: 'required' as const,
        attestation: 'none' as const,
        supportedCredentialKinds: SUPPORTED_KINDS,
        allowCredentials: {
          webauthn: [],
          key: allowed('Key'),
          passwordProtectedKey: allowed('PasswordProtectedKey'),
        },
      }
    }
  },
)
