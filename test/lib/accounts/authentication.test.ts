import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createAssertionVerifier } from '../../../lib/accounts/authentication.ts'
import { type Credential, FirstAssertion, FirstAttestation, type NewKey } from '../../../lib/accounts/credential.ts'
import { verifyKeyAssertion, verifyKeyAttestation } from '../../../lib/accounts/key.ts'
import { verifyPasskeyAssertion, verifyPasskeyAttestation } from '../../../lib/accounts/passkey.ts'
import { isAcceptedKey } from '../../../lib/accounts/public-key.ts'
import type { User } from '../../../lib/accounts/user.ts'
import { type CredentialFaults, KEY_TYPES, type KeyType, someKeyPair, somePasskey } from '../../support/credentials.ts'

const CHALLENGE = 'a challenge of ours'
const ORIGINS = ['http://localhost:3000', 'https://wallet.example']
const EXPECTED = { challenge: CHALLENGE, origins: ORIGINS, rpId: 'localhost' }
const OPTIONS = { challenge: CHALLENGE, user: { id: 'alice' } }
const COMMON_FIELDS = { factor: 'first', createdAt: new Date(0) } as const

const matchFailedCheck = (check: string) =>
  expect.objectContaining({
    code: 'invalid_credential',
    cause: expect.objectContaining({ message: `The ${check} is wrong.` }),
  })

const newKey = (attestation: unknown) => FirstAttestation.parse(attestation) as NewKey
const base64url = (text: string) => Buffer.from(text).toString('base64url')

const attestedPasskey = (attestation: unknown) => verifyPasskeyAttestation(newKey(attestation).credentialInfo, EXPECTED)
const attestedKey = (attestation: unknown) => verifyKeyAttestation(newKey(attestation).credentialInfo, EXPECTED)

async function registeredPasskey(type: KeyType = 'P-256') {
  const passkey = somePasskey(undefined, type)
  const verified = await attestedPasskey(passkey.create(OPTIONS))
  const credential = { ...COMMON_FIELDS, ...verified, kind: 'Fido2', userHandle: 'alice' } as const
  const login = (faults: CredentialFaults = {}) =>
    FirstAssertion.parse(passkey.get({ challenge: CHALLENGE }, faults)) as never
  return { passkey, credential, login }
}

function registeredKey(type: KeyType = 'P-256') {
  const pair = someKeyPair(type)
  const verified = attestedKey(pair.create(OPTIONS))
  const credential = { ...COMMON_FIELDS, ...verified, kind: 'Key' } as const
  const login = (faults: CredentialFaults = {}) =>
    FirstAssertion.parse(pair.get({ challenge: CHALLENGE }, faults)) as never
  return { pair, credential, login }
}

const SIGNED: [what: string, faults: CredentialFaults, check: string][] = [
  ['of something else', { signature: 'of something else' }, 'signature'],
  ['of another challenge', { challenge: 'another challenge' }, 'challenge'],
  ['for the page of a third party', { origin: 'https://evil.example' }, 'origin'],
  ['in a frame of a third party', { origin: ORIGINS[0], crossOrigin: true }, 'origin'],
  [
    'in a page that a third party has framed',
    {
      origin: ORIGINS[0],
      clientData: (fields) => JSON.stringify({ ...fields, topOrigin: 'https://evil.example' }),
    },
    'origin',
  ],
  ['for a page whose domain starts with ours', { origin: `${ORIGINS[0]}.evil.example` }, 'origin'],
  ['of a challenge encoded twice more', { challenge: base64url(base64url(CHALLENGE)) }, 'challenge'],
  ['of no challenge', { challenge: '' }, 'challenge'],
  ['of no client data', { clientData: () => 'x' }, 'client data'],
  ['of client data that is not an object', { clientData: () => '"x"' }, 'client data'],
]

const NO_ATTESTATIONS: [what: string, attestation: unknown][] = [
  ['not JSON', 'hunter2'],
  ['not an object', []],
  ['without a signature', { publicKey: 'x' }],
  ['a signature in another form', { publicKey: 'x', signature: 'zz' }],
  ['not PEM', { publicKey: 'x', signature: '00' }],
  ['a broken PEM', { publicKey: '-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----', signature: '00' }],
  ['a private key', { publicKey: '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----', signature: '00' }],
]
const withAttestation = <Credential extends { credentialInfo: object }>(
  credential: Credential,
  attestation: unknown,
) => ({
  ...credential,
  credentialInfo: { ...credential.credentialInfo, attestationData: base64url(JSON.stringify(attestation)) },
})

describe('A passkey is registered', () => {
  test('with a self attestation', async () => {
    const { id, create } = somePasskey()
    await expect(attestedPasskey(create(OPTIONS, { attestation: 'packed' }))).resolves.toMatchObject({ id })
  })

  test.for<[what: string, faults: CredentialFaults & { attestation?: 'packed' }, check: string, type?: KeyType]>([
    // Cases with a wrong signature are excluded, because a passkey without self attestation signs no registration.
    ...SIGNED.filter(([, { signature }]) => !signature),
    ['signed by another', { signature: 'of something else', attestation: 'packed' }, 'attestation'],
    ['on an unknown page', { origin: undefined }, 'origin'],
    ['at another relying party', { rpId: 'evil.example' }, 'relying party'],
    ['made for a login', { type: 'webauthn.get' }, 'type'],
    ['made as a key', { type: 'key.create' }, 'type'],
    ['of another algorithm', { algorithm: -8 }, 'algorithm'],
    ['of the algorithm of another type of key', { algorithm: -257 }, 'algorithm'],
    ['of RSA with the algorithm of curves', { algorithm: -7 }, 'algorithm', 'RSA'],
    ['of RSA that is too short', {}, 'algorithm', 'RSA of 1024 bits'],
    ['of RSA that others can sign for', {}, 'algorithm', 'RSA with the exponent 3'],
    ['with another id inside', { innerId: base64url('another id') }, 'credential id'],
    ['without user verification', { flags: 0x41 }, 'user verification'],
    ['without user presence', { flags: 0x44 }, 'user verification'],
    ['longer than it declares', { padding: new Uint8Array(3000) }, 'attestation'],
    ['with no credential inside', { flags: 0x05 }, 'attestation'],
  ])('never if it is %s', async ([, faults, check, type]) => {
    await expect(attestedPasskey(somePasskey(undefined, type).create(OPTIONS, faults))).rejects.toEqual(
      matchFailedCheck(check),
    )
  })

  test.for(NO_ATTESTATIONS)('never if its attestation is %s', async ([, attestation]) => {
    const credential = withAttestation(somePasskey().create(OPTIONS), attestation)
    await expect(attestedPasskey(credential)).rejects.toEqual(matchFailedCheck('attestation'))
  })
})

describe('A key is registered', () => {
  test.for<[how: string, write: (pem: string) => string]>([
    ['trimmed', (pem) => pem.trim()],
    ['in one line', (pem) => pem.replaceAll(/(?<!-)\n(?!-)/g, '')],
    ['with the lines of Windows and a space', (pem) => `${pem.replaceAll('\n', '\r\n')} `],
  ])('with its PEM in one form, even if it is written %s', ([, write]) => {
    let written = ''
    const pem = (text: string) => {
      written = text
      return write(text)
    }
    const credential = someKeyPair('RSA', { pem }).create(OPTIONS, { origin: ORIGINS[0] })
    expect(attestedKey(credential).publicKey).toBe(written)
  })

  test.for<[what: string, faults: CredentialFaults, check: string]>([
    ...SIGNED,
    ['made for a login', { type: 'key.get' }, 'type'],
    ['made as a passkey', { type: 'webauthn.create' }, 'type'],
  ])('never with a signature %s', ([, faults, check]) => {
    expect(() => attestedKey(someKeyPair().create(OPTIONS, faults))).toThrow(matchFailedCheck(check))
  })

  test.for(NO_ATTESTATIONS)('never if its attestation is %s', ([, attestation]) => {
    const credential = withAttestation(someKeyPair().create(OPTIONS), attestation)
    expect(() => attestedKey(credential)).toThrow(matchFailedCheck('attestation'))
  })

  test.for<[where: string, write: (pem: string) => string]>([
    ['after it', (pem) => `${pem}${'x'.repeat(64)}`],
    ['before it', (pem) => `x\n${pem}`],
    ['in its first line', (pem) => pem.replace('KEY-----\n', 'KEY-----x\n')],
    ['as another one', (pem) => `${pem}${pem}`],
    ['as a header', (pem) => pem.replace('KEY-----\n', 'KEY-----\nProc-Type: 4\n\n')],
    ['as spaces', (pem) => `${pem}${' '.repeat(1024)}`],
  ])('never with a PEM that has more text %s', ([, pem]) => {
    expect(() => attestedKey(someKeyPair('P-256', { pem }).create(OPTIONS))).toThrow(matchFailedCheck('attestation'))
  })
})

describe('A passkey logs in', () => {
  test.for(['P-256', 'RSA'] as const)('with a key of %s', async (type) => {
    const { credential, login } = await registeredPasskey(type)
    expect(await verifyPasskeyAssertion(login({ counter: 1 }), credential, EXPECTED)).toEqual({
      counter: 1,
      backedUp: false,
    })
  })

  test('with the challenge as base64url of its text', async () => {
    const { credential, login } = await registeredPasskey()
    const challenge = Buffer.from(CHALLENGE).toString('base64url')
    await expect(verifyPasskeyAssertion(login({ challenge }), credential, EXPECTED)).resolves.toMatchObject({
      backedUp: false,
    })
  })

  test.for<[what: string, faults: CredentialFaults, check: string]>([
    ...SIGNED,
    ['made for a registration', { type: 'webauthn.create' }, 'type'],
    ['without user verification', { flags: 1 }, 'user verification'],
    ['without user presence', { flags: 4 }, 'user verification'],
    ['at another relying party', { rpId: 'evil.example' }, 'relying party'],
    ['on an unknown page', { origin: undefined }, 'origin'],
  ])('never with a signature %s', async ([, faults, check]) => {
    const { credential, login } = await registeredPasskey()
    await expect(verifyPasskeyAssertion(login(faults), credential, EXPECTED)).rejects.toEqual(matchFailedCheck(check))
  })

  test.for([
    { storedCounter: 5, counter: 6, flags: 5, isIn: true },
    { storedCounter: 5, counter: 5, flags: 5, isIn: false },
    { storedCounter: 5, counter: 4, flags: 5, isIn: false },
    // An authenticator without a signature counter always reports 0.
    { storedCounter: 0, counter: 0, flags: 5, isIn: true },
    // An authenticator that once had a signature counter may report 0 later.
    { storedCounter: 50, counter: 0, flags: 5, isIn: true },
    // A synced passkey (flag 8) has a separate counter on each device, so the counter may fall.
    { storedCounter: 5, counter: 4, flags: 5 | 8, isIn: true },
  ])(
    'only if its counter rises: from $storedCounter to $counter (flags $flags) is $isIn',
    async ({ storedCounter, counter, flags, isIn }) => {
      const { credential, login } = await registeredPasskey()
      const asserted = verifyPasskeyAssertion(
        login({ counter, flags }),
        { ...credential, counter: storedCounter },
        EXPECTED,
      )
      if (isIn) expect(await asserted).toMatchObject({ counter })
      else await expect(asserted).rejects.toEqual(matchFailedCheck('counter'))
    },
  )
})

describe('A key logs in', () => {
  test.for(KEY_TYPES)('of the type %s', (type) => {
    const { credential, login } = registeredKey(type)
    expect(() => verifyKeyAssertion(login(), credential, EXPECTED)).not.toThrow()
    expect(() => verifyKeyAssertion(login({ origin: ORIGINS[1] }), credential, EXPECTED)).not.toThrow()
  })

  test.for<[what: string, faults: CredentialFaults, check: string]>([
    ...SIGNED,
    ['made for a registration', { type: 'key.create' }, 'type'],
  ])('never with a signature %s', ([, faults, check]) => {
    const { credential, login } = registeredKey()
    expect(() => verifyKeyAssertion(login(faults), credential, EXPECTED)).toThrow(matchFailedCheck(check))
  })

  test('never with the signature of another key', () => {
    const [own, other] = [registeredKey(), registeredKey()]
    expect(() => verifyKeyAssertion(other.login(), own.credential, EXPECTED)).toThrow(matchFailedCheck('signature'))
  })
})

describe('A public key that is unsupported or weak', () => {
  test.for(['P-384', 'RSA of 1024 bits', 'RSA with the exponent 3'] as const)('is refused: %s', (type) => {
    expect(() => registeredKey(type)).toThrow(matchFailedCheck('algorithm'))
  })

  test('is refused: RSA with the exponent 1', () => {
    const { n = '' } = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' })
    expect(isAcceptedKey(createPublicKey({ key: { kty: 'RSA', n, e: 'AQ' }, format: 'jwk' }))).toBe(false)
  })

  test('is refused: RSA so long that each login would be costly', () => {
    const jwk = { kty: 'RSA', n: Buffer.alloc(513, 0xff).toString('base64url'), e: 'AQAB' }
    expect(isAcceptedKey(createPublicKey({ key: jwk, format: 'jwk' }))).toBe(false)
  })

  // The public keys are the neutral point and points of small order (https://eprint.iacr.org/2020/1244, table 6).
  test.for([
    `01${'00'.repeat(31)}`,
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  ])('is refused: the Ed25519 point %s of small order', (point) => {
    const x = Buffer.from(point, 'hex').toString('base64url')
    expect(isAcceptedKey(createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }))).toBe(false)
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
  const verify = createAssertionVerifier({
    identityKeys: ['k'.repeat(64)],
    limitTries: async () => async () => undefined,
    now: () => 5_000,
  })
  const claimant = { clientId: 'client', email: user.email, sourceIp: '192.0.2.1' }

  test('logs in with both factors', async () => {
    const after = await verify(user, { firstFactor: first.login(), secondFactor: second.login() }, EXPECTED, claimant)
    expect(Object.values(after).map(({ lastUsedAt }) => lastUsedAt?.getTime())).toEqual([5_000, 5_000])
  })

  test.for<[how: string, secondFactor: object | undefined, check: string]>([
    ['without the second factor', undefined, 'second factor'],
    ['with the first factor twice', first.login(), 'signature'],
    ['with a wrong second factor', second.login({ signature: 'of something else' }), 'signature'],
  ])('does not log in %s', async ([, secondFactor, check]) => {
    const assertions = { firstFactor: first.login(), ...(secondFactor && { secondFactor: secondFactor as never }) }
    await expect(verify(user, assertions, EXPECTED, claimant)).rejects.toEqual(matchFailedCheck(check))
  })

  test('does not log in with the second factor only, nor as an unknown user', async () => {
    await expect(verify(user, { firstFactor: second.login() }, EXPECTED, claimant)).rejects.toEqual(
      matchFailedCheck('signature'),
    )
    await expect(verify(null, { firstFactor: first.login() }, EXPECTED, claimant)).rejects.toMatchObject({
      code: 'invalid_credential',
    })
  })
})
