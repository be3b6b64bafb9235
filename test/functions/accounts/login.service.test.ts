import { randomBytes } from 'node:crypto'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { describe, expect, onTestFinished } from 'vitest'
import * as z from 'zod'
import { endpoints } from '../../../functions/contracts.ts'
import { readSecretJson, writeSecretJson } from '../../../lib/aws/secrets.ts'
import { localConfig } from '../../../sandbox/dynamo.ts'
import {
  beginLogin,
  beginRegistration,
  completeLogin,
  createSession,
  type LoginChallenge,
  logInUser,
  oneTimeCode,
  registerUser,
  someEmail,
} from '../../support/accounts.ts'
import { someKeyPair, somePasskey } from '../../support/credentials.ts'
import { expectError } from '../../support/errors.ts'
import { chainlessTest as base, type HttpReply, type Service } from '../../support/service.ts'

const INIT = endpoints['accounts/login-init'].path
const LOGIN = endpoints['accounts/login'].path
const LOGOUT = endpoints['accounts/logout'].path
const WALLETS = endpoints['accounts/wallets-list'].path
const DAYS = 24 * 60 * 60
const PASSWORD = 'correct horse battery staple'

function expectSession({ status, headers, body }: HttpReply, email: string): void {
  expect(body).toEqual({
    token: expect.stringMatching(/^[\w-]{43}$/),
    expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
    user: { id: expect.stringMatching(/^[\w-]{43}$/), email },
  })
  expect(status).toBe(200)
  expect(headers.get('cache-control')).toBe('no-store')
}

const passwordOf = (password = PASSWORD) => ({ kind: 'Password', password })

async function somePasswordUser(service: Service) {
  const { email, begun } = await registerUser(service, ({ otpUrl }) => ({
    firstFactorCredential: { credentialKind: 'Password', credentialInfo: { password: PASSWORD } },
    secondFactorCredential: { credentialKind: 'Totp', credentialInfo: { otpCode: oneTimeCode(otpUrl, -1) } },
  }))
  return { email, code: (steps = 0) => ({ kind: 'Totp', otpCode: oneTimeCode(begun.otpUrl, steps) }) }
}

type Credentials = {
  readonly passkey: ReturnType<typeof somePasskey>
  readonly keyPair: ReturnType<typeof someKeyPair>
}

/**
 * All tests share one user with a passkey as first factor and a key as second factor. Failed logins do not change
 * that user.
 */
const test = base
  .extend('credentials', { scope: 'file' }, (): Credentials => ({ passkey: somePasskey(), keyPair: someKeyPair() }))
  .extend('email', { scope: 'file' }, async ({ sharedService, credentials: { passkey, keyPair } }) => {
    const { email } = await registerUser(sharedService, (begun) => ({
      firstFactorCredential: passkey.create(begun),
      secondFactorCredential: keyPair.create(begun),
    }))
    return email
  })

describe('A login begins', () => {
  test('with a challenge for every kind of credential', async ({ service }) => {
    const { status, headers, body } = await service.call('POST', INIT, { body: { email: someEmail() } })
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    const listed = { type: 'public-key', id: expect.stringMatching(/^[\w-]{43}$/) }
    expect(body).toEqual({
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      challengeIdentifier: expect.stringMatching(/^[\w-]{43}$/),
      rp: { id: 'localhost', name: 'Vaultline' },
      userVerification: 'required',
      attestation: 'none',
      supportedCredentialKinds: [
        { kind: 'Fido2', factor: 'either', requiresSecondFactor: false },
        { kind: 'Key', factor: 'either', requiresSecondFactor: false },
        { kind: 'PasswordProtectedKey', factor: 'either', requiresSecondFactor: false },
        { kind: 'Password', factor: 'first', requiresSecondFactor: true },
        { kind: 'Totp', factor: 'second', requiresSecondFactor: false },
      ],
      allowCredentials: { webauthn: [], key: Array(8).fill(listed), passwordProtectedKey: Array(8).fill(listed) },
    })
  })

  test('without an e-mail address only for passkeys', async ({ service }) => {
    const { allowCredentials } = await beginLogin(service)
    expect(allowCredentials).toEqual({ webauthn: [], key: [], passwordProtectedKey: [] })
  })

  test("with a list that includes the user's keys", async ({ service }) => {
    const [first, second] = [someKeyPair(), someKeyPair('Ed25519')]
    const { email } = await registerUser(service, (begun) => ({
      firstFactorCredential: first.create(begun),
      secondFactorCredential: second.create(
        begun,
        {},
        { kind: 'PasswordProtectedKey', encryptedPrivateKey: 'hunter2' },
      ),
    }))
    const begun = await beginLogin(service, email)
    const ids = (kind: string) => begun.allowCredentials[kind].map(({ id }: { id: string }) => id)
    expect(ids('key')).toContain(first.id)
    expect(ids('passwordProtectedKey')).toContain(second.id)
    // The response must not contain the encrypted key, because a stranger who has it could try passwords without
    // limit.
    expect(JSON.stringify(begun)).not.toContain('hunter2')
  })

  test('never with an invalid e-mail address or an unknown field', async ({ service }) => {
    expectError(await service.call('POST', INIT, { body: { email: 'x' } }), 'missing_or_invalid_email', ['email'])
    expectError(await service.call('POST', INIT, { body: { username: 'x' } }), 'unknown_field', ['username'])
  })
})

describe('A user logs in', () => {
  test('with a passkey and the e-mail address in any case', async ({ service }) => {
    const passkey = somePasskey()
    const { email } = await registerUser(service, (begun) => ({ firstFactorCredential: passkey.create(begun) }))
    const reply = await logInUser(service, ` ${email.toUpperCase()}`, (begun) => ({ firstFactor: passkey.get(begun) }))
    expectSession(reply, email)
  })

  test('with a passkey and no e-mail address', async ({ service }) => {
    const passkey = somePasskey()
    const { email, begun } = await registerUser(service, (options) => ({
      firstFactorCredential: passkey.create(options),
    }))
    const reply = await logInUser(service, undefined, (challenge) => ({ firstFactor: passkey.get(challenge) }))
    expectSession(reply, email)
    expect(reply.body.user.id).toBe(begun.user.id)
  })

  test.for<[string, string | null | undefined]>([
    ['as an empty text', ''],
    ['as null', null],
    ['not at all', undefined],
  ])('with a passkey whose client sends the user %s', async ([, userHandle], { service }) => {
    const passkey = somePasskey()
    const { email } = await registerUser(service, (begun) => ({ firstFactorCredential: passkey.create(begun) }))
    const reply = await logInUser(service, undefined, (begun) => {
      const { kind, credentialAssertion } = passkey.get(begun)
      return { firstFactor: { kind, credentialAssertion: { ...credentialAssertion, userHandle } } }
    })
    expectSession(reply, email)
  })

  test('with a passkey whose client encodes challenge and user twice', async ({ service }) => {
    const passkey = somePasskey()
    const { email, begun } = await registerUser(service, (options) => ({
      firstFactorCredential: passkey.create(options),
    }))
    const encoded = (text: string) => Buffer.from(text).toString('base64url')
    for (const named of [email, undefined]) {
      const reply = await logInUser(service, named, ({ challenge }) => ({
        firstFactor: passkey.get({ challenge: encoded(challenge) }, { userHandle: encoded(begun.user.id) }),
      }))
      expectSession(reply, email)
    }
  })

  test.for([
    ['http://localhost:3000'],
    ['https://localhost'],
    ['android:apk-key-hash:FG3pg8VzBlDY7rmVLzT8ZBagg0LmHb6oigSWsj_PROU'],
  ])('with a passkey on any platform of ours: %s', async ([origin], { service }) => {
    const passkey = somePasskey()
    const { email } = await registerUser(service, (begun) => ({ firstFactorCredential: passkey.create(begun) }))
    const reply = await logInUser(service, email, (begun) => ({ firstFactor: passkey.get(begun, { origin }) }))
    expectSession(reply, email)
  })

  test('with a key protected by a password, sent as its own kind or as a plain key', async ({ service }) => {
    const keyPair = someKeyPair()
    const extra = { kind: 'PasswordProtectedKey', encryptedPrivateKey: 'x' }
    const { email } = await registerUser(service, (begun) => ({
      firstFactorCredential: keyPair.create(begun, {}, extra),
    }))
    for (const kind of ['PasswordProtectedKey', 'Key']) {
      const reply = await logInUser(service, email, (begun) => ({ firstFactor: keyPair.get(begun, {}, kind) }))
      expectSession(reply, email)
    }
  })

  test('with a password and a one-time code, each code once', async ({ service }) => {
    const { email, code } = await somePasswordUser(service)
    const factors = { firstFactor: passwordOf(), secondFactor: code() }
    expectSession(await logInUser(service, email, () => factors), email)
    expectError(await logInUser(service, email, () => factors), 'login_failed')
    expectError(await logInUser(service, email, () => ({ ...factors, secondFactor: code(-1) })), 'login_failed')
    expectSession(await logInUser(service, email, () => ({ ...factors, secondFactor: code(1) })), email)
  })

  test("with codes from before a rotation of the service's key until the old key is removed", async ({
    clock,
    coldService: service,
  }) => {
    const { environment } = service.backends
    const secretId = environment['IDENTITY_SECRET'] ?? ''
    const secrets = new SecretsManagerClient(localConfig(environment['AWS_ENDPOINT_URL_SECRETS_MANAGER'] ?? ''))
    const { key: before } = await readSecretJson(secretId, z.object({ key: z.string() }), secrets)
    const change = async (keys: object) => {
      await writeSecretJson(secretId, keys, secrets)
      clock.pass(5 * 60)
    }
    onTestFinished(async () => {
      await change({ key: before })
      secrets.destroy()
    })
    const logIn = ({ email, code }: Awaited<ReturnType<typeof somePasswordUser>>) =>
      logInUser(service, email, () => ({ firstFactor: passwordOf(), secondFactor: code() }))

    const old = await somePasswordUser(service)
    const key = 'n'.repeat(64)
    await change({ key, before })
    expectSession(await logIn(old), old.email)
    const young = await somePasswordUser(service)
    await change({ key })
    expectSession(await logIn(young), young.email)
    expectError(await logIn(old), 'login_failed')
  })

  test('with a password in other code points of the same text', async ({ service }) => {
    const [composed, decomposed] = ['Ünverständlich 1', 'U\u0308nversta\u0308ndlich 1']
    const keyPair = someKeyPair()
    const { email } = await registerUser(service, (begun) => ({
      firstFactorCredential: { credentialKind: 'Password', credentialInfo: { password: composed } },
      secondFactorCredential: keyPair.create(begun),
    }))
    const reply = await logInUser(service, email, (begun) => ({
      firstFactor: passwordOf(decomposed),
      secondFactor: keyPair.get(begun),
    }))
    expectSession(reply, email)
  })

  test('with a passkey as second factor, and not without it', async ({ service }) => {
    const [keyPair, passkey] = [someKeyPair(), somePasskey()]
    const { email } = await registerUser(service, (begun) => ({
      firstFactorCredential: keyPair.create(begun),
      secondFactorCredential: passkey.create(begun),
    }))
    const both = await logInUser(service, email, (begun) => ({
      firstFactor: keyPair.get(begun),
      secondFactor: passkey.get(begun),
    }))
    expectSession(both, email)
    expectError(await logInUser(service, email, (begun) => ({ firstFactor: keyPair.get(begun) })), 'login_failed')
  })

  test('with a passkey that counts signatures only if its counter increases', async ({ service }) => {
    const passkey = somePasskey()
    const { email } = await registerUser(service, (begun) => ({ firstFactorCredential: passkey.create(begun) }))
    const withCounter = (counter: number) =>
      logInUser(service, email, (begun) => ({ firstFactor: passkey.get(begun, { counter }) }))
    expectSession(await withCounter(5), email)
    expectError(await withCounter(5), 'login_failed')
    expectError(await withCounter(4), 'login_failed')
    expectSession(await withCounter(6), email)
  })

  test('with a synced passkey whatever its counters, and once with each signature', async ({ service }) => {
    const [passkey, synced] = [somePasskey(), 0x1d]
    const { email } = await registerUser(service, (begun) => ({
      firstFactorCredential: passkey.create(begun, { flags: synced | 0x40, counter: 50 }),
    }))
    for (const counter of [51, 0, 51, 51, 7]) {
      const begun = await beginLogin(service)
      const signed = { firstFactor: passkey.get(begun, { flags: synced, counter }) }
      expectSession(await completeLogin(service, begun, signed), email)
      expectError(await completeLogin(service, begun, signed), 'login_failed')
      expectError(await completeLogin(service, await beginLogin(service), signed), 'login_failed')
    }
  })
})

describe('A login fails, always in the same way,', () => {
  const OTHER = randomBytes(32).toString('base64url')
  const cases: [string, (credentials: Credentials, begun: LoginChallenge) => object][] = [
    [
      'with a passkey for another challenge',
      ({ passkey, keyPair }, begun) => ({
        firstFactor: passkey.get(begun, { challenge: OTHER }),
        secondFactor: keyPair.get(begun),
      }),
    ],
    [
      "with another user's handle",
      ({ passkey, keyPair }, begun) => ({
        firstFactor: passkey.get(begun, { userHandle: OTHER }),
        secondFactor: keyPair.get(begun),
      }),
    ],
    ['with an unknown passkey', (_, begun) => ({ firstFactor: somePasskey().get(begun) })],
    ['with an unknown key', (_, begun) => ({ firstFactor: someKeyPair().get(begun) })],
    [
      "with another key under the user's id",
      ({ keyPair }, begun) => ({ firstFactor: someKeyPair('P-256', keyPair).get(begun) }),
    ],
    [
      "with another passkey under the user's id",
      ({ passkey }, begun) => ({ firstFactor: somePasskey(passkey.id).get(begun) }),
    ],
    ['with a password if the user has none', () => ({ firstFactor: passwordOf() })],
    [
      'with a code if the user has none',
      ({ passkey }, begun) => ({ firstFactor: passkey.get(begun), secondFactor: { kind: 'Totp', otpCode: '123456' } }),
    ],
  ]
  test.for(cases)('%s', async ([, factorsOf], { service, credentials, email }) => {
    expectError(await logInUser(service, email, (begun) => factorsOf(credentials, begun)), 'login_failed')
  })

  test('with a right password and no second factor, a wrong one, or a wrong password and a right one', async ({
    service,
  }) => {
    const { email, code } = await somePasswordUser(service)
    const wrong = { kind: 'Totp', otpCode: oneTimeCode((await beginRegistration(service)).otpUrl) }
    expectError(await logInUser(service, email, () => ({ firstFactor: passwordOf() })), 'login_failed')
    for (const [password, secondFactor] of [
      [PASSWORD, wrong],
      ['wrong password', code()],
    ] as const) {
      const factors = { firstFactor: passwordOf(password), secondFactor }
      expectError(await logInUser(service, email, () => factors), 'login_failed')
    }
    // The one-time code still works, because failed logins do not use it up.
    expectSession(await logInUser(service, email, () => ({ firstFactor: passwordOf(), secondFactor: code() })), email)
  })

  test('with a recovery key', async ({ service }) => {
    const recovery = someKeyPair()
    const { email } = await registerUser(service, (begun) => ({
      firstFactorCredential: somePasskey().create(begun),
      recoveryCredential: recovery.create(begun, {}, { kind: 'RecoveryKey' }),
    }))
    expectError(await logInUser(service, email, (begun) => ({ firstFactor: recovery.get(begun) })), 'login_failed')
  })

  test('with a challenge that is used, expired or unknown', async ({ clock, coldService: service }) => {
    const { email, keyPair } = await createSession(service)
    const begun = await beginLogin(service, email)
    const factors = { firstFactor: keyPair.get(begun) }
    expectSession(await completeLogin(service, begun, factors), email)
    expectError(await completeLogin(service, begun, factors), 'login_failed')

    const late = await beginLogin(service, email)
    clock.pass(10 * 60 + 1)
    expectError(await completeLogin(service, late, { firstFactor: keyPair.get(late) }), 'login_failed')
    expectError(await completeLogin(service, { challengeIdentifier: OTHER }, factors), 'login_failed')
  })

  test('with the challenge of a failed attempt', async ({ service }) => {
    const { email, keyPair } = await createSession(service)
    const begun = await beginLogin(service, email)
    const wrong = { firstFactor: keyPair.get(begun, { challenge: OTHER }) }
    expectError(await completeLogin(service, begun, wrong), 'login_failed')
    expectError(await completeLogin(service, begun, { firstFactor: keyPair.get(begun) }), 'login_failed')
  })

  test('at another client', async ({ service }) => {
    const key = await service.createClient([])
    const passkey = somePasskey()
    const { email } = await registerUser(service, (begun) => ({ firstFactorCredential: passkey.create(begun) }))
    for (const named of [email, undefined]) {
      const ours = await beginLogin(service, named)
      expectError(await completeLogin(service, ours, { firstFactor: passkey.get(ours) }, { key }), 'login_failed')
      const theirs = await beginLogin(service, named, key)
      expectError(await completeLogin(service, theirs, { firstFactor: passkey.get(theirs) }, { key }), 'login_failed')
    }
  })

  test('without an e-mail address and without a passkey', async ({ service }) => {
    const { keyPair } = await createSession(service)
    expectError(await logInUser(service, undefined, (begun) => ({ firstFactor: keyPair.get(begun) })), 'login_failed')
    expectError(await logInUser(service, undefined, () => ({ firstFactor: passwordOf() })), 'login_failed')
  })

  test.for<[string, Parameters<typeof expectError>[1], unknown, string[]]>([
    ['nothing', 'missing_or_invalid_challenge_identifier', {}, ['challengeIdentifier', 'firstFactor']],
    ['no factor', 'missing_or_invalid_first_factor', { challengeIdentifier: 'x' }, ['firstFactor']],
    [
      'a first factor that can only be a second',
      'missing_or_invalid_first_factor',
      { challengeIdentifier: 'x', firstFactor: { kind: 'Totp', otpCode: '123456' } },
      ['firstFactor.kind'],
    ],
    [
      'a second factor that can only be a first',
      'missing_or_invalid_second_factor',
      { challengeIdentifier: 'x', firstFactor: passwordOf(), secondFactor: passwordOf() },
      ['secondFactor.kind'],
    ],
    [
      'a signature that is too large',
      'missing_or_invalid_first_factor',
      {
        challengeIdentifier: 'x',
        firstFactor: {
          kind: 'Key',
          credentialAssertion: { credId: 'x', clientData: 'xx', signature: 'x'.repeat(1400) },
        },
      },
      ['firstFactor.credentialAssertion.signature'],
    ],
  ])('except for %s, which the error names', async ([, code, body, fields], { service }) => {
    expectError(await service.call('POST', LOGIN, { body }), code, fields)
  })
})

describe('A session', () => {
  test('is valid for 30 days', async ({ clock, coldService: service }) => {
    const { headers } = await createSession(service)
    clock.pass(30 * DAYS - 5)
    expect(await service.call('GET', WALLETS, { headers })).toMatchObject({ status: 200, body: { wallets: [] } })
    clock.pass(6)
    expectError(await service.call('GET', WALLETS, { headers }), 'invalid_session')
  })

  test('ends with its logout, and other sessions do not', async ({ service }) => {
    const { headers, email, keyPair } = await createSession(service)
    const { body } = await logInUser(service, email, (begun) => ({ firstFactor: keyPair.get(begun) }))
    expect(await service.call('POST', LOGOUT, { headers })).toMatchObject({ status: 204, body: undefined })
    expectError(await service.call('GET', WALLETS, { headers }), 'invalid_session')
    expectError(await service.call('POST', LOGOUT, { headers }), 'invalid_session')
    const other = { authorization: `bearer ${body.token}` }
    expect(await service.call('GET', WALLETS, { headers: other })).toMatchObject({ status: 200 })
  })

  test('of another client is invalid', async ({ service }) => {
    const { headers } = await createSession(service)
    const key = await service.createClient([])
    expectError(await service.call('GET', WALLETS, { headers, key }), 'invalid_session')
    expectError(await service.call('POST', LOGOUT, { headers, key }), 'invalid_session')
    expect(await service.call('GET', WALLETS, { headers })).toMatchObject({ status: 200 })
  })

  test.for<[string, string | undefined, 'missing_session' | 'invalid_session']>([
    ['nothing', undefined, 'missing_session'],
    ['another scheme', 'Basic YTpi', 'missing_session'],
    ['no token', 'Bearer', 'missing_session'],
    ['two tokens', 'Bearer a b', 'missing_session'],
    ['an unknown token', `Bearer ${'x'.repeat(43)}`, 'invalid_session'],
  ])('cannot be %s', async ([, authorization, code], { service }) => {
    const headers = authorization === undefined ? {} : { authorization }
    expectError(await service.call('GET', WALLETS, { headers }), code)
  })

  test('is found in one table request, plus those for the key, which are cached', async ({ coldService: service }) => {
    const { headers } = await createSession(service)
    service.table.reset()
    await service.call('GET', '/auth/wallets', { headers })
    // Four items are read: the API key, the API key's quota lease, the session and the user.
    expect(service.table.tries.map(({ body }) => body)).toHaveLength(4)
    expect(service.table.tries.map(({ body }) => body).join()).not.toContain(headers.authorization.split(' ')[1])
  })
})
