import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { authenticator } from '../../../lib/accounts/authentication.ts'
import { type Credential, FirstAssertion, FirstAttestation, type NewKey } from '../../../lib/accounts/credential.ts'
import { assertKey, attestKey } from '../../../lib/accounts/key.ts'
import { assertPasskey, attestPasskey } from '../../../lib/accounts/passkey.ts'
import { isSound } from '../../../lib/accounts/public-key.ts'
import type { User } from '../../../lib/accounts/user.ts'
import { type Faults, KEY_TYPES, type KeyType, someKeyPair, somePasskey } from '../../support/credentials.ts'

const CHALLENGE = 'a challenge of ours'
const ORIGINS = ['http://localhost:3000', 'https://wallet.example']
const EXPECTED = { challenge: CHALLENGE, origins: ORIGINS, rpId: 'localhost' }
const OPTIONS = { challenge: CHALLENGE, user: { id: 'alice' } }
const HELD = { factor: 'first', createdAt: new Date(0) } as const

/** How a check of a credential fails: its cause says which check it was. */
const failing = (check: string) =>
  expect.objectContaining({
    code: 'invalid_credential',
    cause: expect.objectContaining({ message: `The ${check} is wrong.` }),
  })

const newKey = (attestation: unknown) => FirstAttestation.parse(attestation) as NewKey

/** A passkey that is registered, and the logins that it makes. */
async function registeredPasskey(type: KeyType = 'P-256') {
  const passkey = somePasskey(undefined, type)
  const made = await attestPasskey(newKey(passkey.create(OPTIONS)).credentialInfo, EXPECTED)
  const credential = { ...HELD, ...made, kind: 'Fido2', userHandle: 'alice' } as const
  const login = (faults: Faults = {}) => FirstAssertion.parse(passkey.get({ challenge: CHALLENGE }, faults)) as never
  return { passkey, credential, login }
}

/** A key that is registered, and the logins that it makes. */
function registeredKey(type: KeyType = 'P-256') {
  const pair = someKeyPair(type)
  const made = attestKey(newKey(pair.create(OPTIONS)).credentialInfo, EXPECTED)
  const credential = { ...HELD, ...made, kind: 'Key' } as const
  const login = (faults: Faults = {}) => FirstAssertion.parse(pair.get({ challenge: CHALLENGE }, faults)) as never
  return { pair, credential, login }
}

/** What must hold of every signature, of a passkey as of a key. */
const SIGNED: [what: string, faults: Faults, check: string][] = [
  ['of something else', { signature: 'of something else' }, 'signature'],
  ['of another challenge', { challenge: 'another challenge' }, 'challenge'],
  ['for the page of a stranger', { origin: 'https://evil.example' }, 'origin'],
  ['in a frame of a stranger', { origin: ORIGINS[0], crossOrigin: true }, 'origin'],
  [
    'in a page that a stranger has framed',
    {
      origin: ORIGINS[0],
      clientData: (fields) => JSON.stringify({ ...fields, topOrigin: 'https://evil.example' }),
    },
    'origin',
  ],
  ['of no client data', { clientData: () => 'x' }, 'client data'],
]

describe('A passkey logs in', () => {
  test.for(['P-256', 'RSA'] as const)('with a key of %s', async (type) => {
    const { credential, login } = await registeredPasskey(type)
    expect(await assertPasskey(login({ counter: 1 }), credential, EXPECTED)).toEqual({ counter: 1, backedUp: false })
  })

  test('with the challenge as base64url of its text', async () => {
    const { credential, login } = await registeredPasskey()
    const challenge = Buffer.from(CHALLENGE).toString('base64url')
    await expect(assertPasskey(login({ challenge }), credential, EXPECTED)).resolves.toMatchObject({ backedUp: false })
  })

  test.for<[what: string, faults: Faults, check: string]>([
    ...SIGNED,
    ['made for a registration', { type: 'webauthn.create' }, 'type'],
    ['without its user', { flags: 1 }, 'user verification'],
    ['at another relying party', { rpId: 'evil.example' }, 'relying party'],
    ['on a page that is not told', { origin: undefined }, 'origin'],
  ])('never with a signature %s', async ([, faults, check]) => {
    const { credential, login } = await registeredPasskey()
    await expect(assertPasskey(login(faults), credential, EXPECTED)).rejects.toEqual(failing(check))
  })

  test.for([
    { seen: 5, told: 6, flags: 5, isIn: true },
    { seen: 5, told: 5, flags: 5, isIn: false },
    { seen: 5, told: 4, flags: 5, isIn: false },
    // An authenticator that does not count.
    { seen: 0, told: 0, flags: 5, isIn: true },
    // One that is synced, each of whose places counts for itself (flag 8).
    { seen: 5, told: 4, flags: 5 | 8, isIn: true },
  ])('where its counter rises, was $seen and is $told (flags $flags): $isIn', async ({ seen, told, flags, isIn }) => {
    const { credential, login } = await registeredPasskey()
    const asserted = assertPasskey(login({ counter: told, flags }), { ...credential, counter: seen }, EXPECTED)
    if (isIn) expect(await asserted).toMatchObject({ counter: told })
    else await expect(asserted).rejects.toEqual(failing('counter'))
  })
})

describe('A key logs in', () => {
  test.for(KEY_TYPES)('of the type %s', (type) => {
    const { credential, login } = registeredKey(type)
    expect(() => assertKey(login(), credential, EXPECTED)).not.toThrow()
    expect(() => assertKey(login({ origin: ORIGINS[1] }), credential, EXPECTED)).not.toThrow()
  })

  test.for<[what: string, faults: Faults, check: string]>([
    ...SIGNED,
    ['made for a registration', { type: 'key.create' }, 'type'],
  ])('never with a signature %s', ([, faults, check]) => {
    const { credential, login } = registeredKey()
    expect(() => assertKey(login(faults), credential, EXPECTED)).toThrow(failing(check))
  })

  test('never with the signature of another key', () => {
    const [own, other] = [registeredKey(), registeredKey()]
    expect(() => assertKey(other.login(), own.credential, EXPECTED)).toThrow(failing('signature'))
  })
})

describe('A public key for which others can sign', () => {
  test.for(['P-384', 'RSA of 1024 bits', 'RSA with the exponent 3'] as const)('is not taken: %s', (type) => {
    expect(() => registeredKey(type)).toThrow(failing('algorithm'))
  })

  test('is not taken: RSA with the exponent 1', () => {
    const { n = '' } = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' })
    expect(isSound(createPublicKey({ key: { kty: 'RSA', n, e: 'AQ' }, format: 'jwk' }))).toBe(false)
  })

  // The identity of the curve and a point of order eight (https://eprint.iacr.org/2020/1244, table 6).
  test.for([
    `01${'00'.repeat(31)}`,
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  ])('is not taken: the Ed25519 point %s of small order', (point) => {
    const x = Buffer.from(point, 'hex').toString('base64url')
    expect(isSound(createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }))).toBe(false)
  })
})

describe('A user with a second factor', () => {
  const first = registeredKey()
  const second = registeredKey()
  const credentials: Record<string, Credential> = {
    a: first.credential,
    b: { ...second.credential, factor: 'second' },
  }
  const user = { email: 'alice@example.com', credentials } as User
  const verify = authenticator({
    identityKeys: ['k'.repeat(64)],
    limitTries: async () => async () => undefined,
    now: () => 5_000,
  })
  const claimant = { clientId: 'client', email: user.email, sourceIp: '192.0.2.1' }

  test('logs in with both', async () => {
    const after = await verify(user, { firstFactor: first.login(), secondFactor: second.login() }, EXPECTED, claimant)
    expect(Object.values(after).map(({ lastUsedAt }) => lastUsedAt?.getTime())).toEqual([5_000, 5_000])
  })

  test.for<[how: string, secondFactor: object | undefined, check: string]>([
    ['without it', undefined, 'second factor'],
    ['with the first one twice', first.login(), 'signature'],
    ['with a wrong one', second.login({ signature: 'of something else' }), 'signature'],
  ])('does not log in %s', async ([, secondFactor, check]) => {
    const assertions = { firstFactor: first.login(), ...(secondFactor && { secondFactor: secondFactor as never }) }
    await expect(verify(user, assertions, EXPECTED, claimant)).rejects.toEqual(failing(check))
  })

  test('does not log in with it alone, nor as nobody', async () => {
    await expect(verify(user, { firstFactor: second.login() }, EXPECTED, claimant)).rejects.toEqual(
      failing('signature'),
    )
    await expect(verify(null, { firstFactor: first.login() }, EXPECTED, claimant)).rejects.toMatchObject({
      code: 'invalid_credential',
    })
  })
})
