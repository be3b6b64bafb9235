import { randomBytes } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect } from 'vitest'
import { endpoints } from '../../../functions/contracts.ts'
import {
  beginLogin,
  beginRecovery,
  beginRegistration,
  completeLogin,
  completeRecovery,
  completeRegistration,
  logInUser,
  oneTimeCode,
  type RegistrationOptions,
  recoverAccount,
  registerUser,
  signRecovery,
  someEmail,
} from '../../support/accounts.ts'
import { type CredentialFaults, someKeyPair, somePasskey } from '../../support/credentials.ts'
import { expectError } from '../../support/errors.ts'
import { type RecoveryKit, signWithKit, someRecoveryKit } from '../../support/recovery-kit.ts'
import { type HttpReply, type Service, chainlessTest as test, USERS } from '../../support/service.ts'

const INIT = endpoints['accounts/recover-init'].path
const RECOVER = endpoints['accounts/recover'].path
const WALLETS = endpoints['accounts/wallets-list'].path
const PASSWORD = 'correct horse battery staple'
const RANDOM = expect.stringMatching(/^[\w-]{43}$/)

type KeyPair = ReturnType<typeof someKeyPair>
const asRecovery = (keyPair: KeyPair, begun: RegistrationOptions, encryptedPrivateKey = 'x') =>
  keyPair.create(begun, {}, { kind: 'RecoveryKey', encryptedPrivateKey })

async function someUser(service: Service, options: { key?: string } = {}) {
  const [keyPair, recoveryKey] = [someKeyPair(), someKeyPair()]
  const { email, begun } = await registerUser(
    service,
    (challenge) => ({
      firstFactorCredential: keyPair.create(challenge),
      recoveryCredential: asRecovery(recoveryKey, challenge),
    }),
    options,
  )
  return { email, keyPair, recoveryKey, userId: begun.user.id }
}

const loginWith = (service: Service, email: string, { get }: Pick<KeyPair, 'get'>) =>
  logInUser(service, email, (begun) => ({ firstFactor: get(begun) }))

function expectRecovered({ status, headers, body }: HttpReply): void {
  expect(body).toBeUndefined()
  expect(status).toBe(200)
  expect(headers.get('cache-control')).toBe('no-store')
}

describe('A recovery begins', () => {
  test('with the options of a registration, the token twice, and one recovery key', async ({ service }) => {
    const reply = await service.call('POST', INIT, {
      headers: { platform: 'web' },
      body: { email: ' Alice@Example.COM ' },
    })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const { user, ...options } = await beginRegistration(service, 'alice@example.com')
    expect(reply.body).toEqual({
      publicKeyCredentialCreationOptions: {
        ...options,
        challenge: RANDOM,
        otpUrl: expect.stringMatching(/^otpauth:\/\/totp\/Vaultline:alice%40example\.com\?secret=[A-Z2-7]{32}&/),
        user: { ...user, id: RANDOM },
        temporaryAuthenticationToken: reply.body.temporaryAuthenticationToken,
        allowedRecoveryCredentials: [{ id: RANDOM, encryptedRecoveryKey: null }],
      },
      temporaryAuthenticationToken: RANDOM,
    })
  })

  test('with the encrypted recovery key only for callers that send its id', async ({ service }) => {
    const { email, kit, credential } = await someKitUser(service)
    const credentialId = kit.id
    const allowed = async (options: Parameters<typeof beginRecovery>[2] & { email?: string }) =>
      (await beginRecovery(service, options.email ?? email, options)).allowedRecoveryCredentials
    const encryptedRecoveryKey = credential.encryptedPrivateKey
    expect(await allowed({ credentialId })).toEqual([{ id: credentialId, encryptedRecoveryKey }])

    // A request without the recovery key's id must not return that id, because anyone who has it can download the
    // encrypted key.
    const unasked = await allowed({})
    expect(unasked).toEqual([{ id: RANDOM, encryptedRecoveryKey: null }])
    expect(unasked[0]?.id).not.toBe(credentialId)

    const others = await Promise.all([
      allowed({ credentialId: randomBytes(32).toString('base64url') }),
      allowed({ credentialId: someKeyPair().id }),
      allowed({ credentialId, email: someEmail() }),
      allowed({ credentialId, key: await service.createClient([]) }),
    ])
    const formOf = (text: string) => {
      const { key, iv, ...rest } = JSON.parse(Buffer.from(text, 'base64').toString())
      const parts = [key, iv].map((part) => Buffer.from(part, 'base64'))
      expect(parts.map((part) => part.toString('base64'))).toEqual([key, iv])
      return { length: text.length, parts: parts.map(({ length }) => length), rest }
    }
    const dummies = others.map(([one]) => one?.encryptedRecoveryKey ?? '')
    for (const dummy of dummies) expect(formOf(dummy)).toEqual(formOf(encryptedRecoveryKey))
    expect(new Set([...dummies, encryptedRecoveryKey]).size).toBe(5)
  })

  test('with the same dummies, but a new challenge and user handle each time', async ({ service }) => {
    const credentialId = randomBytes(32).toString('base64url')
    for (const email of [(await someUser(service)).email, someEmail()]) {
      for (const options of [{ credentialId }, {}]) {
        const [one, other] = [
          await beginRecovery(service, email, options),
          await beginRecovery(service, email, options),
        ]
        expect(other.allowedRecoveryCredentials).toEqual(one.allowedRecoveryCredentials)
        expect(other.user.id).not.toBe(one.user.id)
        expect(other.challenge).not.toBe(one.challenge)
        expect(other.temporaryAuthenticationToken).not.toBe(one.temporaryAuthenticationToken)
      }
    }
  })

  test.for<[string, object, Parameters<typeof expectError>[1], string]>([
    ['a wrong e-mail address', { email: 'x' }, 'missing_or_invalid_email', 'email'],
    ['a credentialId of another length', { credentialId: 'AAAA' }, 'invalid_credential_id', 'credentialId'],
    ['a field that is unknown', { username: 'x' }, 'unknown_field', 'username'],
  ])('never with %s', async ([, fields, code, field], { service }) => {
    const body = { email: someEmail(), ...fields }
    expectError(await service.call('POST', INIT, { headers: { platform: 'web' }, body }), code, [field])
  })

  test('never without a platform, or a key', async ({ service }) => {
    const body = { email: someEmail() }
    expectError(await service.call('POST', INIT, { body }), 'missing_or_invalid_platform', ['platform'])
    expectError(await service.call('POST', INIT, { key: null, headers: { platform: 'web' }, body }), 'missing_api_key')
  })
})

async function someKitUser(service: Service) {
  const email = someEmail()
  const begun = await beginRegistration(service, email)
  const { kit, credential } = await someRecoveryKit(begun)
  const credentials = { firstFactorCredential: someKeyPair().create(begun), recoveryCredential: credential }
  expectRecovered(await completeRegistration(service, begun, credentials))
  return { email, kit, credential }
}

async function recoverWithKit(
  service: Service,
  email: string,
  kit: RecoveryKit,
  newOf: (begun: RegistrationOptions) => object,
) {
  const begun = await beginRecovery(service, email, { credentialId: kit.id })
  const next = await someRecoveryKit(begun)
  const newCredentials = { ...newOf(begun), recoveryCredential: next.credential }
  const encrypted = begun.allowedRecoveryCredentials[0]?.encryptedRecoveryKey ?? ''
  const recovery = await signWithKit(kit, email, encrypted, newCredentials)
  return { reply: await completeRecovery(service, begun, recovery, newCredentials), kit: next.kit }
}

const totp = (begun: RegistrationOptions, steps = -1) => ({
  credentialKind: 'Totp',
  credentialInfo: { otpCode: oneTimeCode(begun.otpUrl, steps) },
})
const password = { credentialKind: 'Password', credentialInfo: { password: PASSWORD } }

describe('A user recovers', () => {
  test('with a kit of the provider, and again with the kit made in that recovery', async ({ service }) => {
    const { email, kit } = await someKitUser(service)
    const [first, second] = [someKeyPair(), somePasskey()]
    const one = await recoverWithKit(service, email, kit, (begun) => ({ firstFactorCredential: first.create(begun) }))
    expectRecovered(one.reply)
    expect((await loginWith(service, email, first)).status).toBe(200)

    const passkey = (begun: RegistrationOptions) => ({ firstFactorCredential: second.create(begun) })
    const other = await recoverWithKit(service, email, one.kit, passkey)
    expectRecovered(other.reply)
    expect((await loginWith(service, email, second)).status).toBe(200)
    // The used recovery kit fails, because it cannot decrypt the new encrypted key that the service returns.
    await expect(recoverWithKit(service, email, kit, passkey)).rejects.toThrow()
  })

  test('to a passkey, which also logs in by itself', async ({ service }) => {
    const { email, recoveryKey, userId } = await someUser(service)
    const passkey = somePasskey()
    const buildCredentials = (begun: RegistrationOptions) => ({ firstFactorCredential: passkey.create(begun) })
    expectRecovered(await recoverAccount(service, email, recoveryKey, buildCredentials))
    for (const named of [email, undefined]) {
      const reply = await logInUser(service, named, (begun) => ({ firstFactor: passkey.get(begun) }))
      expect(reply).toMatchObject({ status: 200, body: { user: { id: userId, email } } })
    }
  })

  test('to a key protected by a password, with a passkey for a second factor', async ({ service }) => {
    const { email, recoveryKey } = await someUser(service)
    const [keyPair, passkey] = [someKeyPair(), somePasskey()]
    const extra = { kind: 'PasswordProtectedKey', encryptedPrivateKey: 'x' }
    const reply = await recoverAccount(service, email, recoveryKey, (begun) => ({
      firstFactorCredential: keyPair.create(begun, {}, extra),
      secondFactorCredential: passkey.create(begun),
    }))
    expectRecovered(reply)
    expectError(await loginWith(service, email, keyPair), 'login_failed')
    const both = await logInUser(service, email, (begun) => ({
      firstFactor: keyPair.get(begun),
      secondFactor: passkey.get(begun),
    }))
    expect(both.status).toBe(200)
  })

  test('to a password with one-time codes', async ({ service }) => {
    const { email, recoveryKey } = await someUser(service)
    let otpUrl = ''
    const reply = await recoverAccount(service, email, recoveryKey, (begun) => {
      otpUrl = begun.otpUrl
      return { firstFactorCredential: password, secondFactorCredential: totp(begun) }
    })
    expectRecovered(reply)
    const loggedIn = await logInUser(service, email, () => ({
      firstFactor: { kind: 'Password', password: PASSWORD },
      secondFactor: { kind: 'Totp', otpCode: oneTimeCode(otpUrl) },
    }))
    expect(loggedIn.status).toBe(200)
  })

  const base64url = (text: string) => Buffer.from(text).toString('base64url')
  test.for<[string, (newCredentials: object, challenge: string) => string]>([
    ['the JSON text of the new credentials', (newCredentials) => base64url(JSON.stringify(newCredentials))],
    [
      'this text with its fields in another order',
      (newCredentials) => base64url(JSON.stringify(inOtherOrder(newCredentials), null, 1)),
    ],
    [
      'this text with null for missing fields',
      (newCredentials) => base64url(JSON.stringify({ ...newCredentials, recoveryCredential: null })),
    ],
    ['the challenge', (_, challenge) => challenge],
    ['the challenge encoded twice', (_, challenge) => base64url(challenge)],
  ])('if the recovery key signed %s', async ([, challengeOf], { service }) => {
    const { email, recoveryKey } = await someUser(service)
    const keyPair = someKeyPair()
    const begun = await beginRecovery(service, email)
    const newCredentials = {
      firstFactorCredential: keyPair.create(begun, {}, { credentialName: 'Größe "8"' }),
    }
    const challenge = challengeOf(newCredentials, begun.challenge)
    const faults = { origin: 'http://localhost:3000' }
    const recovery = recoveryKey.get({ challenge }, faults, 'RecoveryKey')
    expectRecovered(await completeRecovery(service, begun, recovery, newCredentials))
    expect((await loginWith(service, email, keyPair)).status).toBe(200)
  })

  test('from an application with the token as Authorization', async ({ service }) => {
    const { email, recoveryKey } = await someUser(service)
    const begun = await beginRecovery(service, email, { platform: 'ios' })
    const passkey = somePasskey()
    const newCredentials = { firstFactorCredential: passkey.create(begun, { origin: 'https://localhost' }) }
    const reply = await service.call('POST', RECOVER, {
      headers: { authorization: `Bearer ${begun.temporaryAuthenticationToken}` },
      body: { recovery: signRecovery(recoveryKey, newCredentials), newCredentials },
    })
    expectRecovered(reply)
  })

  test("with the fields that the provider's page sends to its own server", async ({ service }) => {
    const { email, recoveryKey } = await someUser(service)
    const { temporaryAuthenticationToken: tempAuthToken, ...begun } = await beginRecovery(service, email)
    const newCredentials = { firstFactorCredential: someKeyPair().create(begun) }
    const signedRecoveryPackage = signRecovery(recoveryKey, newCredentials)
    const body = { tempAuthToken, newCredentials, signedRecoveryPackage }
    expectRecovered(await service.call('POST', RECOVER, { body }))
  })
})

function inOtherOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, part]) => [name, inOtherOrder(part)] as const)
  return Object.fromEntries(fields.toReversed())
}

describe('After a recovery', () => {
  test('no session is open, and no earlier credential works', async ({ service }) => {
    const [passkey, keyPair, recoveryKey, next] = [somePasskey(), someKeyPair(), someKeyPair(), someKeyPair()]
    const { email } = await registerUser(service, (begun) => ({
      firstFactorCredential: passkey.create(begun),
      secondFactorCredential: keyPair.create(begun),
      recoveryCredential: asRecovery(recoveryKey, begun),
    }))
    const both = (begun: { challenge: string }) => ({
      firstFactor: passkey.get(begun),
      secondFactor: keyPair.get(begun),
    })
    const sessions = await Promise.all([1, 2, 3].map(async () => (await logInUser(service, email, both)).body.token))
    const listAs = (token: string) => service.call('GET', WALLETS, { headers: { authorization: `Bearer ${token}` } })
    for (const token of sessions) expect((await listAs(token)).status).toBe(200)

    const buildCredentials = (begun: RegistrationOptions) => ({ firstFactorCredential: next.create(begun) })
    expectRecovered(await recoverAccount(service, email, recoveryKey, buildCredentials))
    for (const token of sessions) expectError(await listAs(token), 'invalid_session')
    for (const named of [email, undefined]) expectError(await logInUser(service, named, both), 'login_failed')
    expectError(await loginWith(service, email, keyPair), 'login_failed')
    expectError(await recoverAccount(service, email, recoveryKey, buildCredentials), 'recovery_failed')
    expect((await loginWith(service, email, next)).status).toBe(200)
  })

  test('no earlier password or code works', async ({ service }) => {
    const recoveryKey = someKeyPair()
    const { email, begun } = await registerUser(service, (challenge) => ({
      firstFactorCredential: password,
      secondFactorCredential: totp(challenge),
      recoveryCredential: asRecovery(recoveryKey, challenge),
    }))
    const other = { credentialKind: 'Password', credentialInfo: { password: `${PASSWORD} 2` } }
    const again = await recoverAccount(service, email, recoveryKey, (challenge) => ({
      firstFactorCredential: other,
      secondFactorCredential: totp(challenge),
    }))
    expectRecovered(again)
    for (const text of [PASSWORD, `${PASSWORD} 2`]) {
      const reply = await logInUser(service, email, () => ({
        firstFactor: { kind: 'Password', password: text },
        secondFactor: { kind: 'Totp', otpCode: oneTimeCode(begun.otpUrl) },
      }))
      expectError(reply, 'login_failed')
    }
  })

  test('the user is the same, with the same wallets', async ({ service }) => {
    const { email, keyPair, recoveryKey, userId } = await someUser(service)
    const wallet = privateKeyToAccount(USERS[0].privateKey)
    const callerOf =
      ({ body }: HttpReply) =>
      (method: string, path: string, sent?: object) =>
        service.call(method, path, { headers: { authorization: `Bearer ${body.token}` }, body: sent })
    const before = callerOf(await loginWith(service, email, keyPair))
    const { message } = (await before('POST', '/auth/wallets/init', { address: wallet.address, chain: 'evm' })).body
    await before('POST', '/auth/wallets', { message, signature: await wallet.signMessage({ message }) })
    const wallets = (await before('GET', WALLETS)).body

    const next = someKeyPair()
    await recoverAccount(service, email, recoveryKey, (begun) => ({ firstFactorCredential: next.create(begun) }))
    const session = await loginWith(service, email, next)
    expect(session.body.user).toEqual({ id: userId, email })
    expect(JSON.stringify(wallets)).toContain(wallet.address)
    expect((await callerOf(session)('GET', WALLETS)).body).toEqual(wallets)
  })

  test('the ids of the earlier passkeys are free, and those of the new ones are taken', async ({ service }) => {
    const [old, next, recoveryKey] = [somePasskey(), somePasskey(), someKeyPair()]
    const { email } = await registerUser(service, (begun) => ({
      firstFactorCredential: old.create(begun),
      recoveryCredential: asRecovery(recoveryKey, begun),
    }))
    const buildCredentials = (begun: RegistrationOptions) => ({ firstFactorCredential: next.create(begun) })
    expectRecovered(await recoverAccount(service, email, recoveryKey, buildCredentials))
    const register = async (passkey: typeof old) => {
      const begun = await beginRegistration(service)
      return completeRegistration(service, begun, { firstFactorCredential: passkey.create(begun) })
    }
    expectError(await register(next), 'credential_already_registered')
    expectRecovered(await register(old))
  })
})

describe('A recovery is refused', () => {
  async function recoverAs(
    service: Service,
    email: string,
    recoveryOf: (newCredentials: object, begun: RegistrationOptions) => object,
    options: { key?: string } = {},
  ): Promise<HttpReply> {
    const begun = await beginRecovery(service, email, options)
    const newCredentials = { firstFactorCredential: someKeyPair().create(begun) }
    return await completeRecovery(service, begun, recoveryOf(newCredentials, begun), newCredentials, options)
  }

  test('in the same way, for every cause, and changes nothing', async ({ service }) => {
    const { email, keyPair, recoveryKey } = await someUser(service)
    const session = await loginWith(service, email, keyPair)
    const stranger = await someUser(service)
    const { email: unprepared } = await registerUser(service, (begun) => ({
      firstFactorCredential: someKeyPair().create(begun),
    }))
    const signed = (faults: CredentialFaults) => (newCredentials: object) =>
      signRecovery(recoveryKey, newCredentials, faults)
    const withId = (newCredentials: object, id: string, key = recoveryKey) => {
      const { credentialAssertion, ...recovery } = signRecovery(key, newCredentials)
      return { ...recovery, credentialAssertion: { ...credentialAssertion, credId: id } }
    }
    const otherKey = await service.createClient([])
    const replies = await Promise.all([
      // These e-mail addresses are unknown, have no recovery key, or are known only to another client.
      recoverAs(service, someEmail(), signed({})),
      recoverAs(service, unprepared, signed({})),
      recoverAs(service, email, signed({}), { key: otherKey }),
      // These signatures cover other data, another page, another kind of request, or an unknown challenge.
      recoverAs(service, email, signed({ signature: 'of something else' })),
      recoverAs(service, email, signed({ origin: 'http://localhost:6666' })),
      recoverAs(service, email, signed({ crossOrigin: true })),
      recoverAs(service, email, signed({ type: 'key.create' })),
      recoverAs(service, email, signed({ challenge: randomBytes(32).toString('base64url') })),
      recoverAs(service, email, signed({ challenge: '' })),
      recoverAs(service, email, signed({ clientData: () => 'null' })),
      recoverAs(service, email, signed({ challenge: Buffer.from('null').toString('base64url') })),
      // This signature covers other credentials than the request contains.
      recoverAs(service, email, (_, begun) =>
        signRecovery(recoveryKey, { firstFactorCredential: someKeyPair().create(begun) }),
      ),
      recoverAs(service, email, (newCredentials) =>
        signRecovery(recoveryKey, { ...newCredentials, secondFactorCredential: {} }),
      ),
      // These signatures were made with a wrong key or name another key's id.
      recoverAs(service, email, (newCredentials) => signRecovery(keyPair, newCredentials)),
      recoverAs(service, email, (newCredentials) => signRecovery(stranger.recoveryKey, newCredentials)),
      recoverAs(service, email, (newCredentials) => withId(newCredentials, recoveryKey.id, stranger.recoveryKey)),
      recoverAs(service, email, (newCredentials) => withId(newCredentials, stranger.recoveryKey.id)),
    ])
    for (const reply of replies) expectError(reply, 'recovery_failed')
    const headers = { authorization: `Bearer ${session.body.token}` }
    expect((await service.call('GET', WALLETS, { headers })).status).toBe(200)
    expect((await loginWith(service, email, keyPair)).status).toBe(200)
    const buildCredentials = (begun: RegistrationOptions) => ({ firstFactorCredential: someKeyPair().create(begun) })
    expectRecovered(await recoverAccount(service, email, recoveryKey, buildCredentials))
  })

  test("with a token that is used, unknown, another client's, or a registration's", async ({ service }) => {
    const { email, recoveryKey } = await someUser(service)
    const complete = (begun: RegistrationOptions, key?: string) => {
      const newCredentials = { firstFactorCredential: someKeyPair().create(begun) }
      const recovery = signRecovery(recoveryKey, newCredentials)
      return completeRecovery(service, begun, recovery, newCredentials, { ...(key && { key }) })
    }
    const used = await beginRecovery(service, email)
    expectRecovered(await complete(used))
    const forOther = await beginRecovery(service, email)
    const expired = 'registration_expired_or_used'
    expectError(await complete(used), expired)
    expectError(await complete({ ...used, temporaryAuthenticationToken: 'x' }), expired)
    expectError(await complete(forOther, await service.createClient([])), expired)
    expectError(await complete(await beginRegistration(service, email)), expired)
    const begun = await beginRecovery(service, someEmail())
    const credentials = { firstFactorCredential: someKeyPair().create(begun) }
    expectError(await completeRegistration(service, begun, credentials), expired)
  })

  test('with a token of ten minutes ago', async ({ clock, coldService: service }) => {
    const { email, recoveryKey } = await someUser(service)
    const begun = await beginRecovery(service, email)
    clock.pass(601)
    const newCredentials = { firstFactorCredential: someKeyPair().create(begun) }
    const reply = await completeRecovery(service, begun, signRecovery(recoveryKey, newCredentials), newCredentials)
    expectError(reply, 'registration_expired_or_used')
  })

  test('for invalid new credentials, with the reasons only for the holder of the recovery key', async ({ service }) => {
    const { email, recoveryKey } = await someUser(service)
    const buildCredentials = (begun: RegistrationOptions) => ({
      firstFactorCredential: somePasskey().create(begun, { origin: 'https://other.example' }),
      secondFactorCredential: someKeyPair().create(begun, { challenge: 'x' }),
      recoveryCredential: someKeyPair().create(
        begun,
        { signature: 'of something else' },
        { kind: 'RecoveryKey', encryptedPrivateKey: 'x' },
      ),
    })
    const reply = await recoverAccount(service, email, recoveryKey, buildCredentials)
    expectError(reply, 'invalid_credential', ['firstFactorCredential', 'secondFactorCredential', 'recoveryCredential'])
    expect(reply.body.details.map(({ issue }: { issue: string }) => issue)).toEqual([
      'The origin is wrong.',
      'The challenge is wrong.',
      'The signature is wrong.',
    ])
    expectError(await recoverAccount(service, email, someKeyPair(), buildCredentials), 'recovery_failed')
    expectError(await recoverAccount(service, someEmail(), recoveryKey, buildCredentials), 'recovery_failed')
  })

  test('for new credentials that already belong to a user', async ({ service }) => {
    const { email, keyPair, recoveryKey } = await someUser(service)
    const [passkey, fresh] = [somePasskey(), someKeyPair()]
    const stranger = await registerUser(service, (begun) => ({ firstFactorCredential: passkey.create(begun) }))
    for (const taken of [somePasskey(passkey.id), keyPair, recoveryKey]) {
      const reply = await recoverAccount(service, email, recoveryKey, (begun) => ({
        firstFactorCredential: fresh.create(begun),
        secondFactorCredential: taken.create(begun),
      }))
      expectError(reply, 'credential_already_registered')
    }
    expect((await loginWith(service, email, keyPair)).status).toBe(200)
    expect((await loginWith(service, stranger.email, passkey)).status).toBe(200)
    const buildCredentials = (begun: RegistrationOptions) => ({ firstFactorCredential: fresh.create(begun) })
    expectRecovered(await recoverAccount(service, email, recoveryKey, buildCredentials))
  })

  test('without a required field', async ({ service }) => {
    const { email, recoveryKey } = await someUser(service)
    const begun = await beginRecovery(service, email)
    const { temporaryAuthenticationToken } = begun
    const newCredentials = { firstFactorCredential: someKeyPair().create(begun) }
    const recovery = signRecovery(recoveryKey, newCredentials)
    const call = (body: object) => service.call('POST', RECOVER, { body })
    const token = { temporaryAuthenticationToken }
    expectError(await call({ recovery, newCredentials }), 'missing_or_invalid_temporary_authentication_token', [
      'temporaryAuthenticationToken',
    ])
    expectError(await call({ ...token, newCredentials }), 'missing_or_invalid_recovery', ['recovery'])
    const first = 'missing_or_invalid_first_factor_credential'
    expectError(await call({ ...token, recovery }), first, ['newCredentials'])
    expectError(await call({ ...token, recovery, newCredentials: {} }), first, ['newCredentials.firstFactorCredential'])
    expectError(
      await call({ ...token, recovery, newCredentials: { firstFactorCredential: password } }),
      'missing_or_invalid_second_factor_credential',
      ['newCredentials.secondFactorCredential'],
    )
    expectError(
      await call({ newCredentials: { firstFactorCredential: password } }),
      'missing_or_invalid_temporary_authentication_token',
      ['temporaryAuthenticationToken', 'recovery', 'newCredentials.secondFactorCredential'],
    )
    expectError(await call({}), 'missing_or_invalid_temporary_authentication_token', [
      'temporaryAuthenticationToken',
      'recovery',
      'newCredentials',
    ])
    expectError(
      await call({ ...token, recovery: { ...recovery, kind: 'Key' }, newCredentials }),
      'missing_or_invalid_recovery',
      ['recovery.kind'],
    )
    expectRecovered(await call({ ...token, recovery, newCredentials }))
  })

  test('with two passkeys, because an authenticator would keep only the second', async ({ service }) => {
    const { email, recoveryKey } = await someUser(service)
    const begun = await beginRecovery(service, email)
    const newCredentials = {
      firstFactorCredential: somePasskey().create(begun),
      secondFactorCredential: somePasskey().create(begun),
    }
    const reply = await completeRecovery(service, begun, signRecovery(recoveryKey, newCredentials), newCredentials)
    expectError(reply, 'missing_or_invalid_second_factor_credential', ['newCredentials.secondFactorCredential'])
  })
})

describe('A recovery key', () => {
  test('never logs in and is not a factor', async ({ service }) => {
    const { email, recoveryKey } = await someUser(service)
    const begun = await beginLogin(service, email)
    for (const listed of [begun.allowCredentials.key, begun.allowCredentials.passwordProtectedKey]) {
      expect(JSON.stringify(listed)).not.toContain(recoveryKey.id)
    }
    expectError(
      await completeLogin(service, begun, { firstFactor: recoveryKey.get(begun, {}, 'RecoveryKey') }),
      'missing_or_invalid_first_factor',
      ['firstFactor.kind'],
    )
    for (const kind of ['Key', 'PasswordProtectedKey']) {
      const reply = await logInUser(service, email, (challenge) => ({
        firstFactor: recoveryKey.get(challenge, {}, kind),
      }))
      expectError(reply, 'login_failed')
    }
    for (const field of ['firstFactorCredential', 'secondFactorCredential']) {
      const challenge = await beginRecovery(service, email)
      const newCredentials = {
        firstFactorCredential: someKeyPair().create(challenge),
        [field]: asRecovery(someKeyPair(), challenge),
      }
      const reply = await completeRecovery(
        service,
        challenge,
        signRecovery(recoveryKey, newCredentials),
        newCredentials,
      )
      expect(reply.status).toBe(400)
      expect(reply.body.error).toBe(`Missing or invalid ${field}`)
    }
  })
})

describe('Of parallel requests', () => {
  test('one of many recoveries succeeds, and the others leave nothing', async ({ service }) => {
    const { email, recoveryKey } = await someUser(service)
    const attempts = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const [passkey, next] = [somePasskey(), someKeyPair()]
        const begun = await beginRecovery(service, email)
        const newCredentials = {
          firstFactorCredential: passkey.create(begun),
          recoveryCredential: asRecovery(next, begun),
        }
        return { begun, passkey, next, newCredentials, recovery: signRecovery(recoveryKey, newCredentials) }
      }),
    )
    const replies = await Promise.all(
      attempts.map(({ begun, recovery, newCredentials }) => completeRecovery(service, begun, recovery, newCredentials)),
    )
    const outcomes = attempts.map((attempt, i) => ({ ...attempt, reply: replies[i] as HttpReply }))
    const [winners, losers] = [
      outcomes.filter(({ reply }) => reply.status === 200),
      outcomes.filter(({ reply }) => reply.status !== 200),
    ]
    expect(winners).toHaveLength(1)
    for (const { reply } of losers) expectError(reply, 'recovery_failed')
    for (const { passkey, reply } of outcomes) {
      expect((await loginWith(service, email, passkey)).status).toBe(reply.status === 200 ? 200 : 401)
    }
    for (const { passkey } of losers) {
      const begun = await beginRegistration(service)
      expectRecovered(await completeRegistration(service, begun, { firstFactorCredential: passkey.create(begun) }))
    }
    const last = someKeyPair()
    const buildCredentials = (begun: RegistrationOptions) => ({ firstFactorCredential: last.create(begun) })
    for (const { next } of losers)
      expectError(await recoverAccount(service, email, next, buildCredentials), 'recovery_failed')
    for (const { next } of winners) expectRecovered(await recoverAccount(service, email, next, buildCredentials))
  })

  test('a login with the old key opens no session that survives the recovery', async ({ service }) => {
    for (let round = 0; round < 3; round += 1) {
      const { email, keyPair, recoveryKey } = await someUser(service)
      const next = someKeyPair()
      const begun = await beginRecovery(service, email)
      const newCredentials = { firstFactorCredential: next.create(begun) }
      const challenges = await Promise.all([1, 2, 3].map(() => beginLogin(service, email)))
      const [recovered, ...logins] = await Promise.all([
        completeRecovery(service, begun, signRecovery(recoveryKey, newCredentials), newCredentials),
        ...challenges.map((challenge) => completeLogin(service, challenge, { firstFactor: keyPair.get(challenge) })),
      ])
      expectRecovered(recovered)
      for (const { status, body } of logins) {
        expect([200, 401]).toContain(status)
        if (status !== 200) continue
        const headers = { authorization: `Bearer ${body.token}` }
        expectError(await service.call('GET', WALLETS, { headers }), 'invalid_session')
      }
      expectError(await loginWith(service, email, keyPair), 'login_failed')
      expect((await loginWith(service, email, next)).status).toBe(200)
    }
  })
})
