import { secondsFrom } from '../../../lib/accounts/challenges.ts'
import { assert } from '../../../lib/accounts/check.ts'
import type { Expected } from '../../../lib/accounts/client-data.ts'
import type { Assertion, Credential } from '../../../lib/accounts/credential.ts'
import { assertKey } from '../../../lib/accounts/key.ts'
import { assertPasskey } from '../../../lib/accounts/passkey.ts'
import { isPassword } from '../../../lib/accounts/password.ts'
import { listAllOrigins } from '../../../lib/accounts/relying-party.ts'
import type { Session } from '../../../lib/accounts/session.ts'
import type { CredentialUse } from '../../../lib/accounts/store.ts'
import { hashToken, randomToken } from '../../../lib/accounts/token.ts'
import { totpSecret, totpStep } from '../../../lib/accounts/totp.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { toResult } from '../../../lib/result.ts'
import type { Services } from '../../../lib/services.ts'
import type { contract } from './contract.ts'

const SESSION_SECONDS = 30 * 24 * 60 * 60
type Dependencies = Services<'users' | 'relyingParty' | 'identityKey' | 'randomBytes' | 'now'>

/** A dummy credential of each kind: what an assertion is verified against where the user has none that fits, so that the work is the same. */
const DUMMY = {
  Fido2: {
    kind: 'Fido2',
    id: '',
    publicKey: Buffer.from(
      'a50102032620012158206b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296' +
        '2258204fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5',
      'hex',
    ),
    counter: 0,
    backedUp: false,
    aaguid: '',
  },
  Key: {
    kind: 'Key',
    id: '',
    publicKey:
      '-----BEGIN PUBLIC KEY-----\n' +
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==\n' +
      '-----END PUBLIC KEY-----',
  },
  Password: { kind: 'Password', hash: `$scrypt$ln=15,r=8,p=3$${'A'.repeat(22)}$${'A'.repeat(43)}` },
  Totp: { kind: 'Totp', lastStep: 0 },
} as const satisfies Partial<Record<Credential['kind'], Credential>>

/**
 * Completes a login and gives the token of its session of 30 days. The challenge is used up whatever comes of it.
 * Throws `login_failed`, the same for every cause; whether the user exists makes no difference to the work.
 */
export function completeLogin({ users, relyingParty, identityKey, randomBytes, now }: Dependencies) {
  const origins = listAllOrigins(relyingParty)

  /** What this factor uses up of the credential that the user holds; throws `invalid_credential` when it is not that credential's. */
  const verify = async (
    factor: Assertion,
    held: Credential | undefined,
    userId: string,
    expected: Expected,
  ): Promise<CredentialUse | undefined> => {
    switch (factor.kind) {
      case 'Fido2': {
        const own = held?.kind === 'Fido2' && held.id === factor.credentialAssertion.credId ? held : undefined
        const value = await assertPasskey(factor, own ?? DUMMY.Fido2, expected)
        assert(own !== undefined, 'credential id')
        return value > own.counter ? { field: 'counter', value } : undefined
      }
      case 'Key':
      case 'PasswordProtectedKey': {
        const isKey = held?.kind === 'Key' || held?.kind === 'PasswordProtectedKey'
        const own = isKey && held.id === factor.credentialAssertion.credId ? held : undefined
        assertKey(factor, own ?? DUMMY.Key, expected)
        assert(own !== undefined, 'credential id')
        return undefined
      }
      case 'Password': {
        const own = held?.kind === 'Password' ? held : undefined
        const isRight = await isPassword(factor.password, (own ?? DUMMY.Password).hash)
        assert(own !== undefined && isRight, 'password')
        return undefined
      }
      case 'Totp': {
        const own = held?.kind === 'Totp' ? held : undefined
        const value = totpStep(totpSecret(identityKey, userId), factor.otpCode, now(), own?.lastStep)
        assert(own !== undefined && value !== null, 'code')
        return { field: 'lastStep', value }
      }
    }
  }

  return async ({ client: { clientId }, body }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { challengeIdentifier, firstFactor, secondFactor } = body
    const started = await users.loginChallenges.take(hashToken(challengeIdentifier), new Date(now()))
    if (started?.clientId !== clientId) throw new AppError('login_failed')

    const { email, challenge } = started
    const expected = { challenge, origins, rpId: relyingParty.id }
    const handle = handleOf(firstFactor)
    const named = email === undefined ? await users.find(handle ?? '-') : await users.get({ clientId, email })
    const user = named?.clientId === clientId && (handle ?? named.userId) === named.userId ? named : null
    const [first, second] = await Promise.all([
      toResult(verify(firstFactor, user?.firstFactor, user?.userId ?? '', expected)),
      secondFactor && toResult(verify(secondFactor, user?.secondFactor, user?.userId ?? '', expected)),
    ])
    const needsSecond = firstFactor.kind === 'Password' && !secondFactor
    if (!user || 'error' in first || (second && 'error' in second) || needsSecond) throw new AppError('login_failed')

    const uses = {
      ...(first.value && { firstFactor: first.value }),
      ...(second?.value && { secondFactor: second.value }),
    }
    const isFresh = Object.keys(uses).length === 0 || (await users.recordUse(user, uses))
    if (!isFresh) throw new AppError('login_failed')

    const token = randomToken(randomBytes)
    const expiresAt = secondsFrom(now(), SESSION_SECONDS)
    const session: Session = {
      hash: hashToken(token),
      clientId,
      user: { id: user.userId, email: user.email },
      expiresAt,
    }
    await users.sessions.put(session.hash, session)
    return { token, expiresAt, user: session.user }
  }
}

/** The user's id that a passkey tells, as the bytes that it stands for or, from some clients, as its text. */
function handleOf(factor: Assertion): string | undefined {
  const bytes = factor.kind === 'Fido2' ? factor.credentialAssertion.userHandle : undefined
  if (!bytes) return undefined
  return bytes.length === 32 ? Buffer.from(bytes).toString('base64url') : Buffer.from(bytes).toString()
}
