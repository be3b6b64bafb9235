import { isDeepStrictEqual } from 'node:util'
import { withoutNulls } from '../core/field.ts'
import { parseJson } from '../core/json.ts'
import type { KeysByAge } from '../core/keys-by-age.ts'
import { toResult, unwrap } from '../core/result.ts'
import { requireCheck } from './check.ts'
import { type ExpectedClientData, parseChallenge } from './client-data.ts'
import { type Assertion, type Credential, NewCredentials, type RecoveryAssertion } from './credential.ts'
import { verifyKeyAssertion } from './key.ts'
import type { LimitAttempts } from './limits.ts'
import { verifyPasskeyAssertion } from './passkey.ts'
import { isCorrectPassword } from './password.ts'
import { findTotpStep } from './totp.ts'
import { findRecoveryKey, type User } from './user.ts'

/** Unverified identity of a caller who logs in: the client, the e-mail address if given, and the IP address. */
export type LoginCaller = { readonly clientId: string; readonly email: string | undefined; readonly sourceIp: string }

/** Proofs that a user's credentials confirm a challenge: signatures, a password or a one-time code. */
export type Assertions = { readonly firstFactor: Assertion; readonly secondFactor?: Assertion | undefined }

const held = { factor: 'first', createdAt: new Date(0) } as const

/**
 * Dummy credentials that are verified if the user has no matching credential. The verification then takes the same
 * time, so the duration reveals nothing.
 */
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
 * Returns a function that verifies a user's proofs of a challenge. The function returns all the user's credentials with
 * updated signature counters and steps of one-time codes. The caller must store these, so that no one-time code works
 * twice. A user with a second factor must prove it too. The function throws `invalid_credential`, or
 * `too_many_requests` after too many guesses. Guesses are passwords, and one-time codes after a password or a valid
 * signature. Wrong signatures are no guesses, so an attacker cannot lock out a user who signs. An unknown user causes
 * the same work, so the duration reveals nothing.
 */
export function createAssertionVerifier({
  identityKeys,
  limitTries,
  now,
}: {
  readonly identityKeys: KeysByAge
  readonly limitTries: LimitAttempts
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
}) {
  const verify = async (assertion: Assertion, own: readonly Own[], expected: ExpectedClientData): Promise<Own> => {
    switch (assertion.kind) {
      case 'Fido2': {
        const { credId, userHandle } = assertion.credentialAssertion
        const passkey = own.filter((one) => one.kind === 'Fido2').find(({ id }) => id === credId)
        const seen = await verifyPasskeyAssertion(assertion, passkey ?? DUMMY.Fido2, expected)
        requireCheck(passkey !== undefined, 'credential id')
        requireCheck(!userHandle || textsOf(userHandle).includes(passkey.userHandle), 'credential id')
        return { ...passkey, ...seen }
      }
      case 'Key':
      case 'PasswordProtectedKey': {
        const { credId } = assertion.credentialAssertion
        const keys = own.flatMap((one) => (one.kind === 'Key' || one.kind === 'PasswordProtectedKey' ? [one] : []))
        const key = keys.find(({ id }) => id === credId)
        verifyKeyAssertion(assertion, key ?? DUMMY.Key, expected)
        requireCheck(key !== undefined, 'credential id')
        return key
      }
      case 'Password': {
        const password = own.find((one) => one.kind === 'Password')
        const isRight = await isCorrectPassword(assertion.password, (password ?? DUMMY.Password).hash)
        requireCheck(password !== undefined && isRight, 'password')
        return password
      }
      case 'Totp': {
        const totp = own.find((one) => one.kind === 'Totp')
        const { seed, lastStep } = totp ?? DUMMY.Totp
        const step = findTotpStep(identityKeys, seed, assertion.otpCode, now(), lastStep)
        requireCheck(totp !== undefined && step !== null, 'code')
        return { ...totp, lastStep: step }
      }
    }
  }

  return async (
    user: User | null,
    { firstFactor, secondFactor }: Assertions,
    expected: ExpectedClientData,
    { clientId, email, sourceIp }: LoginCaller,
  ): Promise<User['credentials']> => {
    const own = Object.entries(user?.credentials ?? {}).map(([key, credential]): Own => ({ ...credential, key }))
    const [first, second] = (['first', 'second'] as const).map((which) => own.filter(({ factor }) => factor === which))
    const isGuess = firstFactor.kind === 'Password'
    const takeBack = isGuess ? await limitTries('password', { clientId, user: email, sourceIp }) : undefined
    const results = [await toResult(verify(firstFactor, first ?? [], expected))]
    const isRight = results.every((result) => 'value' in result)
    // A one-time code sent with a password counts as a guess even if the password is wrong. Otherwise the different
    // work would reveal if the password is right. A code sent with a wrong signature does not count, because the caller
    // never learns if the code was right.
    const isCodeGuess = secondFactor?.kind === 'Totp' && (isGuess || (user && isRight))
    const seed = (isRight && second?.find((one) => one.kind === 'Totp')?.seed) || null
    const ofUser = isGuess ? {} : { user: user?.email }
    const takeCodeBack = isCodeGuess ? await limitTries('code', { clientId, ...ofUser, seed }) : undefined
    if (secondFactor) results.push(await toResult(verify(secondFactor, second ?? [], expected)))
    const used = results.map(unwrap)
    requireCheck(secondFactor !== undefined || second?.length === 0, 'second factor')
    await Promise.all([takeBack?.(), takeCodeBack?.()])
    const lastUsedAt = new Date(now())
    const after = used.map(({ key, ...credential }) => [key, { ...credential, lastUsedAt }] as const)
    return { ...user?.credentials, ...Object.fromEntries(after) }
  }
}

/**
 * Returns the user if the user's recovery key signed the new credentials or the challenge. Otherwise throws
 * `invalid_credential`. A missing user causes the same work, so the duration does not reveal it.
 */
export async function authenticateRecovery(
  user: User | null,
  recovery: RecoveryAssertion,
  { credentials, ...expected }: ExpectedClientData & { readonly credentials: NewCredentials },
): Promise<User> {
  const { credId, clientData } = recovery.credentialAssertion
  const key = findRecoveryKey(user, credId)
  const signed = parseChallenge(clientData)
  const challenge = signed !== undefined && isTextOf(signed, credentials) ? signed : expected.challenge
  verifyKeyAssertion(recovery, key ?? DUMMY.Key, { ...expected, challenge })
  requireCheck(user !== null && key !== undefined, 'credential id')
  return user
}

/** Returns true if the challenge is these credentials as JSON in base64url, with fields in any order. */
function isTextOf(challenge: string, credentials: NewCredentials): boolean {
  const value = parseJson(Buffer.from(challenge, 'base64url'))
  if (typeof value !== 'object' || value === null) return false
  const parsed = NewCredentials.safeParse(withoutNulls(value))
  return isDeepStrictEqual(parsed.data, credentials)
}

/** Returns a user handle in two forms: base64url of its bytes, and its bytes as text. Clients pass either form to the authenticator. */
function textsOf(handle: Uint8Array): string[] {
  const bytes = Buffer.from(handle)
  return [bytes.toString('base64url'), bytes.toString()]
}
