import { isDeepStrictEqual } from 'node:util'
import { withoutNulls } from '../core/field.ts'
import { parseJson } from '../core/json.ts'
import type { KeysByAge } from '../core/keys-by-age.ts'
import { toResult, unwrap } from '../core/result.ts'
import { assert } from './check.ts'
import { type Expected, parseChallenge } from './client-data.ts'
import { type Assertion, type Credential, NewCredentials, type RecoveryAssertion } from './credential.ts'
import { assertKey } from './key.ts'
import type { LimitTries } from './limits.ts'
import { assertPasskey } from './passkey.ts'
import { isPassword } from './password.ts'
import { findTotpStep } from './totp.ts'
import { findRecoveryKey, type User } from './user.ts'

/** Unverified identity of a caller who logs in: an IP address, and an e-mail address if given. */
export type Claimant = { readonly clientId: string; readonly email: string | undefined; readonly sourceIp: string }

/** Proofs with which a user's credentials confirm a challenge: signatures, a password or a one-time code. */
export type Assertions = { readonly firstFactor: Assertion; readonly secondFactor?: Assertion | undefined }

const held = { factor: 'first', createdAt: new Date(0) } as const

/** Dummy credentials, verified if the user has no matching one, so that the response time does not reveal it. */
const DUMMY = {
  Fido2: {
    ...held,
    kind: 'Fido2',
    id: '',
    userHandle: '',
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
    ...held,
    kind: 'Key',
    id: '',
    publicKey:
      '-----BEGIN PUBLIC KEY-----\n' +
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==\n' +
      '-----END PUBLIC KEY-----',
  },
  Password: { ...held, kind: 'Password', hash: `$scrypt$ln=15,r=8,p=3$${'A'.repeat(22)}$${'A'.repeat(43)}` },
  Totp: { ...held, kind: 'Totp', seed: '', lastStep: 0 },
} as const satisfies Partial<Record<Credential['kind'], Credential>>

type Own = Credential & { readonly key: string }

/**
 * Returns a function that verifies a user's proofs of a challenge. It returns all credentials with new counters and
 * used codes, so that no code works twice. A second factor is required if the user has one. It throws
 * `invalid_credential`, or `too_many_requests` after too many guesses. Only passwords, and codes after a password or a
 * valid signature, are guesses. So an attacker cannot lock out a user who signs. Its work is the same if there is no
 * such user.
 */
export function createAuthenticator({
  identityKeys,
  limitTries,
  now,
}: {
  readonly identityKeys: KeysByAge
  readonly limitTries: LimitTries
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
}) {
  const verify = async (assertion: Assertion, own: readonly Own[], expected: Expected): Promise<Own> => {
    switch (assertion.kind) {
      case 'Fido2': {
        const { credId, userHandle } = assertion.credentialAssertion
        const passkey = own.filter((one) => one.kind === 'Fido2').find(({ id }) => id === credId)
        const seen = await assertPasskey(assertion, passkey ?? DUMMY.Fido2, expected)
        assert(passkey !== undefined, 'credential id')
        assert(!userHandle || textsOf(userHandle).includes(passkey.userHandle), 'credential id')
        return { ...passkey, ...seen }
      }
      case 'Key':
      case 'PasswordProtectedKey': {
        const { credId } = assertion.credentialAssertion
        const keys = own.flatMap((one) => (one.kind === 'Key' || one.kind === 'PasswordProtectedKey' ? [one] : []))
        const key = keys.find(({ id }) => id === credId)
        assertKey(assertion, key ?? DUMMY.Key, expected)
        assert(key !== undefined, 'credential id')
        return key
      }
      case 'Password': {
        const password = own.find((one) => one.kind === 'Password')
        const isRight = await isPassword(assertion.password, (password ?? DUMMY.Password).hash)
        assert(password !== undefined && isRight, 'password')
        return password
      }
      case 'Totp': {
        const totp = own.find((one) => one.kind === 'Totp')
        const { seed, lastStep } = totp ?? DUMMY.Totp
        const step = findTotpStep(identityKeys, seed, assertion.otpCode, now(), lastStep)
        assert(totp !== undefined && step !== null, 'code')
        return { ...totp, lastStep: step }
      }
    }
  }

  return async (
    user: User | null,
    { firstFactor, secondFactor }: Assertions,
    expected: Expected,
    { clientId, email, sourceIp }: Claimant,
  ): Promise<User['credentials']> => {
    const own = Object.entries(user?.credentials ?? {}).map(([key, credential]): Own => ({ ...credential, key }))
    const [first, second] = (['first', 'second'] as const).map((which) => own.filter(({ factor }) => factor === which))
    const isGuess = firstFactor.kind === 'Password'
    const takeBack = isGuess ? await limitTries('password', { clientId, user: email, sourceIp }) : undefined
    const results = [await toResult(verify(firstFactor, first ?? [], expected))]
    const isRight = results.every((result) => 'value' in result)
    // A code after a password always counts as a guess, so the work does not depend on the password. A code after a wrong signature does
    // not count, because the caller never learns its result.
    const isCodeGuess = secondFactor?.kind === 'Totp' && (isGuess || (user && isRight))
    const seed = (isRight && second?.find((one) => one.kind === 'Totp')?.seed) || null
    const ofUser = isGuess ? {} : { user: user?.email }
    const takeCodeBack = isCodeGuess ? await limitTries('code', { clientId, ...ofUser, seed }) : undefined
    if (secondFactor) results.push(await toResult(verify(secondFactor, second ?? [], expected)))
    const used = results.map(unwrap)
    assert(secondFactor !== undefined || second?.length === 0, 'second factor')
    await Promise.all([takeBack?.(), takeCodeBack?.()])
    const lastUsedAt = new Date(now())
    const after = used.map(({ key, ...credential }) => [key, { ...credential, lastUsedAt }] as const)
    return { ...user?.credentials, ...Object.fromEntries(after) }
  }
}

/**
 * Returns the user if its recovery key signed these new credentials, or else the challenge. Throws
 * `invalid_credential`. The work is the same if there is no user.
 */
export async function authenticateRecovery(
  user: User | null,
  recovery: RecoveryAssertion,
  { credentials, ...expected }: Expected & { readonly credentials: NewCredentials },
): Promise<User> {
  const { credId, clientData } = recovery.credentialAssertion
  const key = findRecoveryKey(user, credId)
  const signed = parseChallenge(clientData)
  const challenge = signed !== undefined && isTextOf(signed, credentials) ? signed : expected.challenge
  assertKey(recovery, key ?? DUMMY.Key, { ...expected, challenge })
  assert(user !== null && key !== undefined, 'credential id')
  return user
}

/** True if this challenge is base64url of these credentials' JSON, with fields in any order. */
function isTextOf(challenge: string, credentials: NewCredentials): boolean {
  const value = parseJson(Buffer.from(challenge, 'base64url'))
  if (typeof value !== 'object' || value === null) return false
  const parsed = NewCredentials.safeParse(withoutNulls(value))
  return isDeepStrictEqual(parsed.data, credentials)
}

/** Returns the forms in which clients send a user handle: base64url, or its bytes as plain text. */
function textsOf(handle: Uint8Array): string[] {
  const bytes = Buffer.from(handle)
  return [bytes.toString('base64url'), bytes.toString()]
}
