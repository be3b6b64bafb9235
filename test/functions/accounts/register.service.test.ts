import { generateKeyPairSync, randomBytes, scryptSync } from 'node:crypto'
import { describe, expect } from 'vitest'
import { endpoints } from '../../../functions/contracts.ts'
import { LOCAL_ENVIRONMENT } from '../../../infra/environments.ts'
import { missing } from '../../../lib/aws/conditions.ts'
import {
  beginRegistration,
  completeRegistration,
  logInUser,
  oneTimeCode,
  type RegistrationOptions,
  registerUser,
  someEmail,
} from '../../support/accounts.ts'
import { createAndroidCertificates } from '../../support/certificates.ts'
import { someKeyPair, somePasskey } from '../../support/credentials.ts'
import { expectError } from '../../support/errors.ts'
import { lowerPasswordCost, restorePasswordCost } from '../../support/password-cost.ts'
import { type HttpReply, startNewContainers, chainlessTest as test } from '../../support/service.ts'
import { startRecordingProxy } from '../../support/wire.ts'

const INIT = endpoints['accounts/register-init'].path
const REGISTER = endpoints['accounts/register'].path
const ANDROID = 'android:apk-key-hash:FG3pg8VzBlDY7rmVLzT8ZBagg0LmHb6oigSWsj_PROU'
const PASSWORD = 'correct horse battery staple'

function expectRefused(reply: HttpReply, check: string, field = 'firstFactorCredential'): void {
  expectError(reply, 'invalid_credential', [field])
  expect(reply.body.details).toEqual([{ field, issue: `The ${check} is wrong.` }])
}

describe('A registration begins', () => {
  test('with options for every kind of client, and the token twice', async ({ service }) => {
    const { status, headers, body } = await service.call('POST', INIT, {
      key: null,
      headers: { platform: 'web' },
      body: { email: ' Alice@Example.COM ' },
    })
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    const token = expect.stringMatching(/^[\w-]{43}$/)
    expect(body).toEqual({
      publicKeyCredentialCreationOptions: {
        attestation: 'none',
        authenticatorSelection: { requireResidentKey: true, residentKey: 'required', userVerification: 'required' },
        challenge: token,
        excludeCredentials: [],
        otpUrl: expect.stringMatching(
          /^otpauth:\/\/totp\/Vaultline:alice%40example\.com\?secret=[A-Z2-7]{32}&issuer=Vaultline&algorithm=SHA1&digits=6&period=30$/,
        ),
        pubKeyCredParams: [
          { type: 'public-key', alg: -7 },
          { type: 'public-key', alg: -257 },
        ],
        rp: { id: 'localhost', name: 'Vaultline' },
        supportedCredentialKinds: {
          firstFactor: ['Fido2', 'Key', 'Password', 'PasswordProtectedKey'],
          secondFactor: ['Fido2', 'Key', 'Totp', 'PasswordProtectedKey'],
        },
        temporaryAuthenticationToken: body.temporaryAuthenticationToken,
        user: { displayName: 'alice@example.com', id: token, name: 'alice@example.com' },
      },
      temporaryAuthenticationToken: token,
    })
  })

  test('with new values each time', async ({ service }) => {
    const [one, other] = [await beginRegistration(service, 'a@b.cc'), await beginRegistration(service, 'a@b.cc')]
    expect(one.challenge).not.toBe(other.challenge)
    expect(one.user.id).not.toBe(other.user.id)
    expect(one.otpUrl).not.toBe(other.otpUrl)
    expect(one.temporaryAuthenticationToken).not.toBe(other.temporaryAuthenticationToken)
  })

  test.for<[string, Record<string, string>, unknown, string[]]>([
    ['no platform', {}, { email: 'a@b.cc' }, ['platform']],
    ['another platform', { platform: 'windows' }, { email: 'a@b.cc' }, ['platform']],
    ['neither platform nor e-mail address', {}, {}, ['platform', 'email']],
  ])('never with %s', async ([, headers, body, fields], { service }) => {
    expectError(await service.call('POST', INIT, { headers, body }), 'missing_or_invalid_platform', fields)
  })

  test.for<[string, unknown]>([
    ['none', undefined],
    ['no text', 5],
    ['empty', ''],
    ['no address', 'alice'],
    ['without a domain', 'alice@'],
    ['two', 'a@b.cc,c@d.ee'],
    ['with a line break inside', 'a@b.cc\nbcc: c@d.ee'],
    ['too long', `${'a'.repeat(250)}@example.com`],
  ])('never with an e-mail address that is %s', async ([, email], { service }) => {
    const reply = await service.call('POST', INIT, { headers: { platform: 'web' }, body: { email } })
    expectError(reply, 'missing_or_invalid_email', ['email'])
  })

  test('never with a field that is unknown', async ({ service }) => {
    const body = { email: 'a@b.cc', mail: 'c@d.ee' }
    expectError(await service.call('POST', INIT, { headers: { platform: 'web' }, body }), 'unknown_field', ['mail'])
  })
})

describe('A user is registered', () => {
  const encryptedPrivateKey = 'abc'
  const password = { credentialKind: 'Password', credentialInfo: { password: PASSWORD } }
  const FIRST: [string, (begun: RegistrationOptions) => object][] = [
    ['a passkey', (begun) => somePasskey().create(begun)],
    ['a passkey that signs with RSA', (begun) => somePasskey(undefined, 'RSA').create(begun)],
    ['a passkey with a long id', (begun) => somePasskey(randomBytes(200).toString('base64url')).create(begun)],
  ]
  const cases: [string, (begun: RegistrationOptions) => object][] = [
    ...FIRST.map(([what, create]): (typeof FIRST)[number] => [
      what,
      (begun) => ({ firstFactorCredential: create(begun) }),
    ]),
    [
      'a password and a passkey',
      (begun) => ({ firstFactorCredential: password, secondFactorCredential: somePasskey().create(begun) }),
    ],
    [
      'two keys with names, and one for recovery',
      (begun) => ({
        firstFactorCredential: someKeyPair().create(begun, {}, { kind: 'Key', credentialName: 'laptop' }),
        secondFactorCredential: someKeyPair('Ed25519').create(
          begun,
          {},
          { kind: 'PasswordProtectedKey', encryptedPrivateKey },
        ),
        recoveryCredential: someKeyPair().create(begun, {}, { kind: 'RecoveryKey', encryptedPrivateKey }),
      }),
    ],
    [
      'a passkey, and a recovery key stored elsewhere',
      (begun) => ({
        firstFactorCredential: somePasskey().create(begun),
        recoveryCredential: someKeyPair('RSA').create(begun, {}, { kind: 'RecoveryKey' }),
      }),
    ],
  ]
  test.for(cases)('with %s', async ([, credentialsOf], { service }) => {
    const begun = await beginRegistration(service)
    const reply = await completeRegistration(service, begun, credentialsOf(begun))
    expect(reply).toMatchObject({ status: 200, body: undefined })
    expect(reply.headers.get('cache-control')).toBe('no-store')
  })

  test.for<[string, string]>([
    ['web', 'http://localhost:3000'],
    ['web', 'http://localhost:5173'],
    ['ios', 'https://localhost'],
    ['android', ANDROID],
  ])('on %s, with a passkey made for %s', async ([platform, origin], { service }) => {
    const { begun } = await registerUser(
      service,
      (options) => ({ firstFactorCredential: somePasskey().create(options, { origin }) }),
      { platform },
    )
    expect(begun.user.id).toHaveLength(43)
  })

  test('by clients that encode the challenge twice, for any kind', async ({ service }) => {
    const twice = ({ challenge }: RegistrationOptions) => ({ challenge: Buffer.from(challenge).toString('base64url') })
    await registerUser(service, (begun) => ({ firstFactorCredential: somePasskey().create(begun, twice(begun)) }))
    const { email } = await registerUser(service, (begun) => ({
      firstFactorCredential: someKeyPair().create(begun, twice(begun)),
    }))
    expect(email).toContain('@')
  })

  test('by clients that write the client data in another order and with spaces', async ({ service }) => {
    const clientData = ({ type, challenge }: Record<string, unknown>) =>
      `{ "challenge": "${challenge}", "crossOrigin": false, "origin": "http://localhost:3000", "type": "${type}" }`
    const { email } = await registerUser(service, (begun) => ({
      firstFactorCredential: someKeyPair().create(begun, { clientData }),
    }))
    expect(email).toContain('@')
  })

  const WRAPPERS: [string, (token: string, firstFactorCredential: object) => { headers?: object; body: object }][] = [
    [
      'the token in the Authorization header, and the credentials in signedChallenge',
      (token, firstFactorCredential) => ({
        headers: { authorization: `Bearer ${token}` },
        body: { signedChallenge: { firstFactorCredential } },
      }),
    ],
    [
      'the id of the application too',
      (temporaryAuthenticationToken, firstFactorCredential) => ({
        body: { appId: 'ap-1', temporaryAuthenticationToken, signedChallenge: { firstFactorCredential } },
      }),
    ],
    [
      'a short name for the token',
      (tempAuthToken, firstFactorCredential) => ({
        body: { tempAuthToken, signedChallenge: { firstFactorCredential } },
      }),
    ],
    [
      "what reaches the passkey's device",
      (temporaryAuthenticationToken, newCredentials) => {
        const { credentialInfo } = newCredentials as { credentialInfo: object }
        const firstFactorCredential = {
          ...newCredentials,
          credentialInfo: { ...credentialInfo, transports: ['internal', 'hybrid'] },
        }
        return { body: { temporaryAuthenticationToken, firstFactorCredential } }
      },
    ],
  ]
  test.for(WRAPPERS)('by clients that send %s', async ([, wrap], { service }) => {
    const begun = await beginRegistration(service)
    const { headers, body } = wrap(begun.temporaryAuthenticationToken, somePasskey().create(begun))
    const reply = await service.call('POST', REGISTER, { headers: { ...headers }, body })
    expect(reply).toMatchObject({ status: 200, body: undefined })
  })

  const inBase64 = (fields: object) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, text]) => [name, Buffer.from(String(text), 'base64url').toString('base64')]),
    )

  test('with a key in padded base64, as iOS applications write it', async ({ service }) => {
    const begun = await beginRegistration(service)
    const { credentialInfo, ...rest } = someKeyPair().create(begun)
    const firstFactorCredential = { ...rest, credentialInfo: inBase64(credentialInfo) }
    const { status } = await completeRegistration(service, begun, { firstFactorCredential })
    expect(status).toBe(200)
  })

  // Phones with react-native-passkey before 3.0 send padded base64. iOS pads all values, and Android pads ids
  // (https://github.com/f-23/react-native-passkey).
  test('with a passkey in padded base64, and logs in with it in either form', async ({ service }) => {
    // The first bytes of this id are "+/" in base64 and "-_" in base64url.
    const passkey = somePasskey(Buffer.concat([Buffer.from([0xfb, 0xff]), randomBytes(30)]).toString('base64url'))
    const { email } = await registerUser(service, (begun) => {
      const { credentialInfo, ...rest } = passkey.create(begun)
      return { firstFactorCredential: { ...rest, credentialInfo: inBase64(credentialInfo) } }
    })
    for (const named of [email, undefined]) {
      const reply = await logInUser(service, named, (begun) => {
        const { credentialAssertion, kind } = passkey.get(begun)
        return { firstFactor: { kind, credentialAssertion: inBase64(credentialAssertion) } }
      })
      expect(reply.status).toBe(200)
    }
    expect((await logInUser(service, email, (begun) => ({ firstFactor: passkey.get(begun) }))).status).toBe(200)
    const again = await beginRegistration(service)
    const taken = await completeRegistration(service, again, { firstFactorCredential: passkey.create(again) })
    expectError(taken, 'credential_already_registered')
  })

  test('with one e-mail address at two clients', async ({ service }) => {
    const email = someEmail()
    await registerUser(service, (begun) => ({ firstFactorCredential: someKeyPair().create(begun) }), { email })
    const key = await service.createClient([])
    const other = await registerUser(service, (begun) => ({ firstFactorCredential: someKeyPair().create(begun) }), {
      email,
      key,
    })
    expect(other.email).toBe(email)
  })
})

describe('A credential is refused', () => {
  const OTHER_CHALLENGE = randomBytes(32).toString('base64url')
  test.for(['android-key', 'packed'] as const)(
    'that has its own certificates in the format %s, and their URLs are never fetched',
    async (attestation, { service }) => {
      const sink = await startRecordingProxy(service.baseUrl)
      const root = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const begun = await beginRegistration(service)
      const firstFactorCredential = somePasskey().create(begun, {
        attestation,
        certify: (publicKey, clientDataHash) => createAndroidCertificates(publicKey, clientDataHash, root, sink.url),
      })
      const reply = await completeRegistration(service, begun, { firstFactorCredential })
      await sink.stop()
      expect(sink.bodies).toEqual([])
      expectRefused(reply, 'attestation')
    },
  )

  test.for<[string, number]>([
    ['of a minute ago', -2],
    ['of a minute ahead', 2],
  ])('that is a one-time code %s', async ([, steps], { service }) => {
    const begun = await beginRegistration(service)
    const reply = await completeRegistration(service, begun, {
      firstFactorCredential: someKeyPair().create(begun),
      secondFactorCredential: { credentialKind: 'Totp', credentialInfo: { otpCode: oneTimeCode(begun.otpUrl, steps) } },
    })
    expectRefused(reply, 'code', 'secondFactorCredential')
  })

  test("with the error of each of three credentials, one of them for another platform's page", async ({ service }) => {
    const begun = await beginRegistration(service)
    const reply = await completeRegistration(service, begun, {
      firstFactorCredential: somePasskey().create(begun, { origin: ANDROID }),
      secondFactorCredential: someKeyPair().create(begun, { challenge: OTHER_CHALLENGE }),
      recoveryCredential: someKeyPair().create(begun, { signature: 'of something else' }, { kind: 'RecoveryKey' }),
    })
    expectError(reply, 'invalid_credential', ['firstFactorCredential', 'secondFactorCredential', 'recoveryCredential'])
    const issues = reply.body.details.map(({ issue }: { issue: string }) => issue)
    expect(issues).toEqual(['The origin is wrong.', 'The challenge is wrong.', 'The signature is wrong.'])
  })

  test('that is a passkey registered by any user', async ({ service }) => {
    const passkey = somePasskey()
    await registerUser(service, (begun) => ({ firstFactorCredential: passkey.create(begun) }))
    const begun = await beginRegistration(service)
    const newCredentials = { firstFactorCredential: passkey.create(begun) }
    expectError(await completeRegistration(service, begun, newCredentials), 'credential_already_registered')
  })

  test('that is sent twice in one registration', async ({ service }) => {
    const begun = await beginRegistration(service)
    const keyPair = someKeyPair()
    const newCredentials = {
      firstFactorCredential: keyPair.create(begun),
      secondFactorCredential: keyPair.create(begun),
    }
    expectError(await completeRegistration(service, begun, newCredentials), 'credential_already_registered')
    // The refused registration stored nothing, so a later registration with the same key succeeds.
    const { email } = await registerUser(service, (next) => ({ firstFactorCredential: keyPair.create(next) }))
    expect(email).toContain('@')
  })
})

describe('A registration is refused', () => {
  test('with a used token, also if its attempt failed', async ({ service }) => {
    const begun = await beginRegistration(service)
    const credentials = { firstFactorCredential: someKeyPair().create(begun) }
    expect(await completeRegistration(service, begun, credentials)).toMatchObject({ status: 200 })
    expectError(await completeRegistration(service, begun, credentials), 'registration_expired_or_used')

    const failed = await beginRegistration(service)
    const wrong = { firstFactorCredential: someKeyPair().create(failed, { challenge: 'x' }) }
    expectRefused(await completeRegistration(service, failed, wrong), 'challenge')
    const right = { firstFactorCredential: someKeyPair().create(failed) }
    expectError(await completeRegistration(service, failed, right), 'registration_expired_or_used')
  })

  test('with an expired token, after ten minutes', async ({ clock, coldService: service }) => {
    const begun = await beginRegistration(service)
    const late = await beginRegistration(service)
    const credentials = { firstFactorCredential: someKeyPair().create(begun) }
    clock.pass(10 * 60 - 2)
    expect(await completeRegistration(service, begun, credentials)).toMatchObject({ status: 200 })
    clock.pass(3)
    const tooLate = { firstFactorCredential: someKeyPair().create(late) }
    expectError(await completeRegistration(service, late, tooLate), 'registration_expired_or_used')
  })

  test('with an unknown token', async ({ service }) => {
    const begun = await beginRegistration(service)
    const credentials = { firstFactorCredential: someKeyPair().create(begun) }
    const attempt = { temporaryAuthenticationToken: randomBytes(32).toString('base64url') }
    expectError(await completeRegistration(service, attempt, credentials), 'registration_expired_or_used')
  })

  test('with the token of another registration', async ({ service }) => {
    const [begun, other] = [await beginRegistration(service), await beginRegistration(service)]
    const credentials = { firstFactorCredential: somePasskey().create(begun) }
    expectRefused(await completeRegistration(service, other, credentials), 'challenge')
  })

  test('for a registered e-mail address, in any case', async ({ service }) => {
    const { email } = await registerUser(service, (begun) => ({ firstFactorCredential: someKeyPair().create(begun) }))
    const begun = await beginRegistration(service, email.toUpperCase())
    const passkey = somePasskey()
    const credentials = { firstFactorCredential: passkey.create(begun) }
    expectError(await completeRegistration(service, begun, credentials), 'user_already_registered')
    const free = await registerUser(service, (next) => ({ firstFactorCredential: passkey.create(next) }))
    expect(free.email).not.toBe(email)
  })

  test('for all but one of parallel requests with one e-mail address', async ({ service }) => {
    for (let round = 0; round < 3; round += 1) {
      const email = someEmail()
      const begun = await Promise.all([1, 2, 3].map(() => beginRegistration(service, email)))
      const replies = await Promise.all(
        begun.map((each) => completeRegistration(service, each, { firstFactorCredential: someKeyPair().create(each) })),
      )
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409])
      for (const reply of replies.filter(({ status }) => status === 409)) expectError(reply, 'user_already_registered')
    }
  })

  test('for all but one of parallel requests with one token', async ({ service }) => {
    const begun = await beginRegistration(service)
    const replies = await Promise.all(
      [1, 2, 3].map(() => completeRegistration(service, begun, { firstFactorCredential: someKeyPair().create(begun) })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401])
  })

  test('without a key, and with a wrong one', async ({ service }) => {
    const begun = await beginRegistration(service)
    const body = {
      temporaryAuthenticationToken: begun.temporaryAuthenticationToken,
      firstFactorCredential: someKeyPair().create(begun),
    }
    expectError(await service.call('POST', REGISTER, { key: null, body }), 'missing_api_key')
    expectError(await service.call('POST', REGISTER, { key: 'x', body }), 'invalid_api_key')
    // The registration token is still valid, because neither refused request has used it up.
    expect(await service.call('POST', REGISTER, { body })).toMatchObject({ status: 200 })
  })

  const TOKEN = 'missing_or_invalid_temporary_authentication_token'
  const FIRST = 'missing_or_invalid_first_factor_credential'
  const SECOND = 'missing_or_invalid_second_factor_credential'
  const RECOVERY = 'missing_or_invalid_recovery_credential'
  const TEMPORARY = 'temporaryAuthenticationToken'
  const CREDENTIAL = 'firstFactorCredential'
  const totp = (otpCode: string) => ({ credentialKind: 'Totp', credentialInfo: { otpCode } })
  const password = (text: string) => ({ credentialKind: 'Password', credentialInfo: { password: text } })
  const first = (firstFactorCredential: unknown) => ({ firstFactorCredential })
  const second = (secondFactorCredential: unknown) => ({ secondFactorCredential })

  /**
   * Malformed bodies: name, error code, a function, and the path that the error names. The function gets the valid
   * first factor, and returns the fields that replace those of a valid body.
   */
  const malformed: [string, Parameters<typeof expectError>[1], (credential: object) => object, string][] = [
    ['no token', TOKEN, () => ({ [TEMPORARY]: undefined }), TEMPORARY],
    ['a token of no text', TOKEN, () => ({ [TEMPORARY]: 5 }), TEMPORARY],
    ['too long a token', TOKEN, () => ({ [TEMPORARY]: 'x'.repeat(201) }), TEMPORARY],
    ['no credential', FIRST, () => first(undefined), CREDENTIAL],
    ['a credential of no kind', FIRST, () => first({}), `${CREDENTIAL}.credentialKind`],
    ['a first factor that can only be a second', FIRST, () => first(totp('123456')), `${CREDENTIAL}.credentialKind`],
    [
      'a second factor that can only be a first',
      SECOND,
      () => second(password(PASSWORD)),
      'secondFactorCredential.credentialKind',
    ],
    [
      'an invalid recovery credential',
      RECOVERY,
      (credential) => ({ recoveryCredential: credential }),
      'recoveryCredential.credentialKind',
    ],
    ['a password without a second factor', SECOND, () => first(password(PASSWORD)), 'secondFactorCredential'],
    ['a password that is too short', FIRST, () => first(password('1234567')), `${CREDENTIAL}.credentialInfo.password`],
    ['an invalid code', SECOND, () => second(totp('12345')), 'secondFactorCredential.credentialInfo.otpCode'],
    [
      'a protected key without the key',
      FIRST,
      (credential) => first({ ...credential, credentialKind: 'PasswordProtectedKey' }),
      `${CREDENTIAL}.encryptedPrivateKey`,
    ],
    ['a field that is unknown', 'unknown_field', () => ({ orgId: 'x' }), 'orgId'],
    [
      'a field that is unknown inside',
      'unknown_field',
      (credential) => first({ ...credential, recovery: 'x' }),
      `${CREDENTIAL}.recovery`,
    ],
    [
      'an unknown field in signedChallenge',
      'unknown_field',
      () => ({ signedChallenge: { x: 1 } }),
      'signedChallenge.x',
    ],
    ['a signedChallenge without credentials', FIRST, () => ({ signedChallenge: {} }), CREDENTIAL],
    [
      'no second factor in signedChallenge',
      SECOND,
      () => ({ signedChallenge: second(1) }),
      'signedChallenge.secondFactorCredential',
    ],
  ]
  test.for(malformed)('with %s, which does not use up the token', async ([, code, change, field], { service }) => {
    const begun = await beginRegistration(service)
    const firstFactorCredential = someKeyPair().create(begun)
    const body = { temporaryAuthenticationToken: begun.temporaryAuthenticationToken, firstFactorCredential }
    expectError(await service.call('POST', REGISTER, { body: { ...body, ...change(firstFactorCredential) } }), code, [
      field,
    ])
    expect(await service.call('POST', REGISTER, { body })).toMatchObject({ status: 200 })
  })

  test('with nothing or only a password, and the error names all missing fields', async ({ service }) => {
    expectError(await service.call('POST', REGISTER, { body: {} }), TOKEN, [TEMPORARY, CREDENTIAL])
    const reply = await service.call('POST', REGISTER, { body: first(password(PASSWORD)) })
    expectError(reply, TOKEN, [TEMPORARY, 'secondFactorCredential'])
  })

  test('with two passkeys, because an authenticator would keep only the second; the token stays valid', async ({
    service,
  }) => {
    const authenticator = new Map<string, string>()
    const [one, other] = [1, 2].map(() => somePasskey(undefined, undefined, authenticator))
    const begun = await beginRegistration(service)
    const newCredentials = { firstFactorCredential: one?.create(begun), secondFactorCredential: other?.create(begun) }
    expect(() => one?.get(begun)).toThrow('NotAllowedError')

    const SECOND = 'missing_or_invalid_second_factor_credential'
    const reply = await completeRegistration(service, begun, newCredentials)
    expectError(reply, SECOND, ['secondFactorCredential'])
    expect(reply.body.details[0].issue).toContain('/auth/credentials/init')
    const nested = await completeRegistration(service, begun, { signedChallenge: newCredentials })
    expectError(nested, SECOND, ['signedChallenge.secondFactorCredential'])
    const completed = await completeRegistration(service, begun, {
      firstFactorCredential: newCredentials.secondFactorCredential,
    })
    expect(completed.status).toBe(200)
  })

  test.for<[string, string]>([
    ['credId', ''],
    // The id must have 32 bytes, because login responses list it among random dummy ids of 32 bytes.
    ['credId', 'x'.repeat(42)],
    ['credId', 'x'.repeat(44)],
    ['credId', 'not base64url!'],
    ['clientData', 'x'.repeat(5470)],
    ['attestationData', '='],
  ])('with a field that is too large or malformed: %s', async ([name, text], { service }) => {
    const begun = await beginRegistration(service)
    const credential = someKeyPair().create(begun)
    const firstFactorCredential = { ...credential, credentialInfo: { ...credential.credentialInfo, [name]: text } }
    const reply = await completeRegistration(service, begun, { firstFactorCredential })
    const field = `firstFactorCredential.credentialInfo.${name}`
    expectError(reply, 'missing_or_invalid_first_factor_credential', [field])
  })

  test('with more than 16 KiB', async ({ service }) => {
    const begun = await beginRegistration(service)
    const credential = someKeyPair().create(begun)
    const credentialInfo = { ...credential.credentialInfo, attestationData: 'x'.repeat(17_000) }
    const firstFactorCredential = { ...credential, credentialInfo }
    expectError(await completeRegistration(service, begun, { firstFactorCredential }), 'payload_too_large')
  })
})

describe('The stored user', () => {
  test('contains neither token nor password nor the secret of one-time codes', async ({ service }) => {
    const begun = await beginRegistration(service)
    const open = await beginRegistration(service)
    await completeRegistration(service, begun, {
      firstFactorCredential: { credentialKind: 'Password', credentialInfo: { password: PASSWORD } },
      secondFactorCredential: { credentialKind: 'Totp', credentialInfo: { otpCode: oneTimeCode(begun.otpUrl) } },
    })
    const written = service.table.tries.map(({ body }) => body).join('\n')
    for (const { temporaryAuthenticationToken, otpUrl } of [begun, open]) {
      expect(written).not.toContain(temporaryAuthenticationToken)
      expect(written).not.toContain(new URL(otpUrl).searchParams.get('secret'))
    }
    expect(written).not.toContain(PASSWORD)
  })

  test("contains the password's scrypt hash at the cost of production", async ({ service, onTestFinished }) => {
    restorePasswordCost()
    onTestFinished(lowerPasswordCost)
    const container = await startNewContainers(service)
    onTestFinished(container.stop)
    const keyPair = someKeyPair()
    const { email } = await registerUser(container.service, (begun) => ({
      firstFactorCredential: { credentialKind: 'Password', credentialInfo: { password: PASSWORD } },
      secondFactorCredential: keyPair.create(begun),
    }))
    const [, salt = '', hash] =
      /\$scrypt\$ln=15,r=8,p=3\$([\w+/]{22})\$([\w+/]{43})"/.exec(service.table.tries.map(({ body }) => body).join()) ??
      []
    const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 2 ** 26 }
    expect(`${hash}=`).toBe(scryptSync(PASSWORD, Buffer.from(salt, 'base64'), 32, cost).toString('base64'))
    const loggedIn = await logInUser(container.service, email, (begun) => ({
      firstFactor: { kind: 'Password', password: PASSWORD },
      secondFactor: keyPair.get(begun),
    }))
    expect(loggedIn).toMatchObject({ status: 200 })
  })

  test('is one item, written on the condition that none exists', async ({ service }) => {
    const begun = await beginRegistration(service)
    service.table.reset()
    await completeRegistration(service, begun, { firstFactorCredential: someKeyPair().create(begun) })
    const puts = service.table.tries.map(({ body }) => body).filter((body) => body.includes('"USER#'))
    expect(puts).toHaveLength(1)
    expect(JSON.parse(puts[0] ?? '')).toMatchObject({
      when: { test: 'any', conditions: [missing('pk'), { path: 'writeId' }] },
    })
  })

  test('in an unknown form, as of a newer version, causes a 503', async ({ service }) => {
    const { email } = await registerUser(service, (begun) => ({ firstFactorCredential: someKeyPair().create(begun) }))
    const record = service.table.tries.map(({ body }) => body).findLast((body) => body.includes('"USER#'))
    const { item } = JSON.parse(record ?? '{}')
    await service.tables.users.putMany([{ pk: item.pk, sk: 'USER' }])
    expectError(await service.call('POST', '/auth/login/init', { body: { email } }), 'service_unavailable')
  })
})

describe('The associated domains', () => {
  const { iosApps, androidApps } = LOCAL_ENVIRONMENT.relyingParty

  test('name the applications of Apple', async ({ service }) => {
    const { status, headers, body } = await service.call('GET', '/.well-known/apple-app-site-association', {
      key: null,
    })
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(body).toEqual({ webcredentials: { apps: iosApps } })
  })

  test('name the applications of Android', async ({ service }) => {
    const { status, body } = await service.call('GET', '/.well-known/assetlinks.json', { key: null })
    expect(status).toBe(200)
    const [app] = androidApps
    const target = {
      namespace: 'android_app',
      package_name: app?.packageName,
      sha256_cert_fingerprints: [app?.certificateSha256],
    }
    expect(body).toEqual([{ relation: expect.arrayContaining(['delegate_permission/common.get_login_creds']), target }])
  })
})
