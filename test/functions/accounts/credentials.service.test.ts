import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { endpoints } from '../../../functions/contracts.ts'
import {
  addCredential,
  beginCredentialAddition,
  beginLogin,
  beginRegistration,
  type CredentialAdditionOptions,
  completeCredentialAddition,
  completeLogin,
  createSession,
  logInUser,
  oneTimeCode,
  openSession,
  registerUser,
} from '../../support/accounts.ts'
import { someKeyPair, somePasskey } from '../../support/credentials.ts'
import { expectError } from '../../support/errors.ts'
import { type HttpReply, type Service, chainlessTest as test } from '../../support/service.ts'

const { path: CREDENTIALS } = endpoints['accounts/credentials-list']
const { path: INIT } = endpoints['accounts/credentials-init']
const PASSWORD = 'correct horse battery staple'
const NEW_PASSWORD = 'another horse battery staple'
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const aTime = expect.stringMatching(TIME)

type Headers = { authorization: string }
type Challenge = { readonly challenge: string }

const passwordOf = (password = PASSWORD) => ({ kind: 'Password', password })
const codeOf = ({ otpUrl }: { otpUrl: string }, steps = 0) => ({ kind: 'Totp', otpCode: oneTimeCode(otpUrl, steps) })
const newPassword = (password = PASSWORD, credentialName?: string) => ({
  firstFactorCredential: { credentialKind: 'Password', credentialInfo: { password }, credentialName },
})
const newCode = (begun: { otpUrl: string }, steps = -1) => ({
  secondFactorCredential: { credentialKind: 'Totp', credentialInfo: { otpCode: oneTimeCode(begun.otpUrl, steps) } },
})
/** Milliseconds for which a one-time code is valid. */
const STEP_MS = 30_000
const RECOVERY = { kind: 'RecoveryKey', encryptedPrivateKey: 'hunter2' }
const PROTECTED = { kind: 'PasswordProtectedKey', encryptedPrivateKey: 'hunter2' }

async function listOf(service: Service, headers: Headers) {
  const { status, body } = await service.call('GET', CREDENTIALS, { headers })
  expect(status).toBe(200)
  return body.credentials
}

async function entryOf(service: Service, headers: Headers, kind: string) {
  const entries: { kind: string; id: string; lastUsedAt: string | null }[] = await listOf(service, headers)
  const entry = entries.find((one) => one.kind === kind)
  if (!entry) throw new Error(`There is no ${kind}.`)
  return entry
}

function remove(service: Service, headers: Headers, { id }: { id: string }): Promise<HttpReply> {
  return service.call('DELETE', `${CREDENTIALS}/${id}`, { headers })
}

async function somePasswordUser(service: Service) {
  const keyPair = someKeyPair()
  const factorsOf = (begun: Challenge) => ({ firstFactor: passwordOf(), secondFactor: keyPair.get(begun) })
  const { email } = await registerUser(service, (begun) => ({
    ...newPassword(),
    secondFactorCredential: keyPair.create(begun),
  }))
  return { email, keyPair, factorsOf, headers: await openSession(service, email, factorsOf) }
}

/**
 * Registers a user with a key and one-time codes, and logs in. Waits for a new 30-second step if the current one ends
 * within 5 s. A test can then use the next step's code, which no login has used.
 */
async function someCodesUser(service: Service) {
  const left = STEP_MS - (Date.now() % STEP_MS)
  if (left < 5000) await sleep(left)
  const keyPair = someKeyPair()
  const { email, begun } = await registerUser(service, (options) => ({
    firstFactorCredential: keyPair.create(options),
    ...newCode(options),
  }))
  const withCode = (codes: { otpUrl: string }, steps: number) => (challenge: Challenge) => ({
    firstFactor: keyPair.get(challenge),
    secondFactor: codeOf(codes, steps),
  })
  return { email, begun, withCode, headers: await openSession(service, email, withCode(begun, 0)) }
}

describe("A user's credentials are listed", () => {
  test('oldest first, with their names and without verification data', async ({ service }) => {
    const [passkey, keyPair, recovery] = [somePasskey(), someKeyPair(), someKeyPair()]
    const { email } = await registerUser(service, (begun) => ({
      firstFactorCredential: { ...passkey.create(begun), credentialName: 'phone' },
      secondFactorCredential: keyPair.create(begun, {}, { ...PROTECTED, credentialName: 'laptop' }),
      recoveryCredential: recovery.create(begun, {}, RECOVERY),
    }))
    const factorsOf = (begun: Challenge) => ({ firstFactor: passkey.get(begun), secondFactor: keyPair.get(begun) })
    const headers = await openSession(service, email, factorsOf)
    const added = await addCredential(service, headers, () => newPassword(PASSWORD, 'the usual'), factorsOf)
    const reply = await service.call('GET', CREDENTIALS, { headers })
    const id = expect.stringMatching(/^[\w-]{22}$/)
    const common = { id, createdAt: aTime, lastUsedAt: aTime }
    const unused = { ...common, lastUsedAt: null }
    expect(reply.body).toEqual({
      credentials: [
        { ...common, kind: 'Fido2', factor: 'first', name: 'phone', credentialId: passkey.id, backedUp: false },
        { ...common, kind: 'PasswordProtectedKey', factor: 'second', name: 'laptop', credentialId: keyPair.id },
        // The response hides the recovery key's id, because anyone who knows the id can get the encrypted key by a
        // recovery.
        { ...unused, kind: 'RecoveryKey', factor: 'recovery', name: null, credentialId: null },
        { ...unused, kind: 'Password', factor: 'first', name: 'the usual', credentialId: null },
      ],
    })
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(added).toMatchObject({ status: 201, body: reply.body.credentials[3] })
    expect(added.headers.get('cache-control')).toBe('no-store')
  })

  test('with the time of the last login or confirmation of each', async ({ clock, coldService: service }) => {
    const { email, headers, keyPair } = await createSession(service)
    const { lastUsedAt } = await entryOf(service, headers, 'Key')
    clock.pass(60)
    const wrong = await logInUser(service, email, () => ({ firstFactor: passwordOf() }))
    expectError(wrong, 'login_failed')
    expect(await entryOf(service, headers, 'Key')).toMatchObject({ lastUsedAt })
    await openSession(service, email, (begun) => ({ firstFactor: keyPair.get(begun) }))
    const later = (await entryOf(service, headers, 'Key')).lastUsedAt
    expect(Date.parse(String(later)) - Date.parse(String(lastUsedAt))).toBeGreaterThanOrEqual(60_000)
    clock.pass(60)
    const second = (begun: CredentialAdditionOptions) => ({ secondFactorCredential: somePasskey().create(begun) })
    await addCredential(service, headers, second, (begun) => ({ firstFactor: keyPair.get(begun) }))
    const latest = (await entryOf(service, headers, 'Key')).lastUsedAt
    expect(Date.parse(String(latest)) - Date.parse(String(later))).toBeGreaterThanOrEqual(60_000)
  })

  test('only to the user', async ({ service }) => {
    expectError(await service.call('GET', CREDENTIALS), 'missing_session')
    const { headers } = await createSession(service)
    const key = await service.createClient([])
    expectError(await service.call('GET', CREDENTIALS, { headers, key }), 'invalid_session')
  })
})

test('A passkey that is backed up later is listed as backed up after its next login', async ({ service }) => {
  const [passkey, eligible, backedUp] = [somePasskey(), 0x0d, 0x1d]
  await registerUser(service, (begun) => ({
    firstFactorCredential: passkey.create(begun, { flags: eligible | 0x40 }),
  }))
  for (const flags of [eligible, backedUp, eligible]) {
    const headers = await openSession(service, undefined, (begun) => ({ firstFactor: passkey.get(begun, { flags }) }))
    expect(await entryOf(service, headers, 'Fido2')).toMatchObject({ backedUp: flags === backedUp })
  }
})

describe('An addition begins', () => {
  test("with the user's options, and with the user's own factors for the confirmation", async ({ service }) => {
    const [passkey, keyPair] = [somePasskey(), someKeyPair()]
    const { email, begun } = await registerUser(service, (options) => ({
      firstFactorCredential: passkey.create(options),
      secondFactorCredential: keyPair.create(options),
      recoveryCredential: someKeyPair().create(options, {}, RECOVERY),
    }))
    const factorsOf = (challenge: Challenge) => ({
      firstFactor: passkey.get(challenge),
      secondFactor: keyPair.get(challenge),
    })
    const headers = await openSession(service, email, factorsOf)
    const protectedKey = someKeyPair()
    const third = (options: CredentialAdditionOptions) => ({
      secondFactorCredential: protectedKey.create(options, {}, PROTECTED),
    })
    expect(await addCredential(service, headers, third, factorsOf)).toMatchObject({ status: 201 })

    const reply = await service.call('POST', INIT, { headers: { ...headers, platform: 'ios' } })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const token = expect.stringMatching(/^[\w-]{43}$/)
    const ofRegistration = await beginRegistration(service)
    const listed = (id: string) => ({ type: 'public-key', id })
    const { publicKeyCredentialCreationOptions: options, confirmation } = reply.body
    expect(options).toEqual({
      ...ofRegistration,
      challenge: token,
      excludeCredentials: [listed(passkey.id)],
      otpUrl: expect.stringContaining(encodeURIComponent(email)),
      temporaryAuthenticationToken: reply.body.temporaryAuthenticationToken,
      user: { displayName: email, id: begun.user.id, name: email },
    })
    expect(reply.body.temporaryAuthenticationToken).toEqual(token)
    expect(options.otpUrl).not.toBe(begun.otpUrl)
    expect(confirmation).toEqual({
      challenge: options.challenge,
      rp: { id: 'localhost', name: 'Vaultline' },
      userVerification: 'required',
      allowCredentials: {
        webauthn: [listed(passkey.id)],
        key: [listed(keyPair.id)],
        passwordProtectedKey: [listed(protectedKey.id)],
      },
    })
  })

  test('never without a platform, or without a session', async ({ service }) => {
    const { headers } = await createSession(service)
    expectError(await service.call('POST', INIT, { headers }), 'missing_or_invalid_platform', ['platform'])
    expectError(await service.call('POST', INIT, { headers: { platform: 'web' } }), 'missing_session')
  })
})

describe('A credential is added', () => {
  type NewCredential = {
    readonly create: (begun: CredentialAdditionOptions) => object
    readonly get: (begun: Challenge) => object
  }
  const someProtectedKey = (): NewCredential => {
    const { create, get } = someKeyPair('RSA')
    return {
      create: (begun) => create(begun, {}, PROTECTED),
      get: (begun) => get(begun, {}, 'PasswordProtectedKey'),
    }
  }
  const someCodes = (): NewCredential => {
    let otpUrl = ''
    return {
      create: (begun) => {
        ;({ otpUrl } = begun)
        return newCode(begun).secondFactorCredential
      },
      get: () => codeOf({ otpUrl }, 1),
    }
  }
  const KEYS: [string, () => NewCredential][] = [
    ['a passkey', () => somePasskey()],
    ['a key', () => someKeyPair('Ed25519')],
    ['a key protected by a password', someProtectedKey],
  ]

  test.for(KEYS)('as first factor: %s, which logs in as the earlier one still does', async ([, some], { service }) => {
    const { email, headers, keyPair } = await createSession(service)
    const credential = some()
    const reply = await addCredential(
      service,
      headers,
      (begun) => ({ firstFactorCredential: credential.create(begun) }),
      (begun) => ({ firstFactor: keyPair.get(begun) }),
    )
    expect(reply.body).toMatchObject({ factor: 'first', name: null, lastUsedAt: null })
    for (const { get } of [credential, keyPair]) {
      expect(await logInUser(service, email, (begun) => ({ firstFactor: get(begun) }))).toMatchObject({ status: 200 })
    }
  })

  test('as a passkey that logs in without an e-mail address', async ({ service }) => {
    const { email, headers, keyPair } = await createSession(service)
    const passkey = somePasskey()
    await addCredential(
      service,
      headers,
      (begun) => ({ firstFactorCredential: passkey.create(begun) }),
      (begun) => ({ firstFactor: keyPair.get(begun) }),
    )
    const reply = await logInUser(service, undefined, (begun) => ({ firstFactor: passkey.get(begun) }))
    expect(reply).toMatchObject({ status: 200, body: { user: { email } } })
  })

  test.for([...KEYS, ['one-time codes', someCodes] as const])(
    'as second factor: %s, which every first factor then requires',
    async ([, some], { service }) => {
      const { email, headers, keyPair } = await createSession(service)
      const [other, credential] = [somePasskey(), some()]
      const confirmationOf = (begun: Challenge) => ({ firstFactor: keyPair.get(begun) })
      const asFirst = (begun: CredentialAdditionOptions) => ({ firstFactorCredential: other.create(begun) })
      expect(await addCredential(service, headers, asFirst, confirmationOf)).toMatchObject({ status: 201 })
      const asSecond = (begun: CredentialAdditionOptions) => ({ secondFactorCredential: credential.create(begun) })
      const reply = await addCredential(service, headers, asSecond, confirmationOf)
      expect(reply.body).toMatchObject({ factor: 'second' })

      for (const { get } of [keyPair, other]) {
        expectError(await logInUser(service, email, (begun) => ({ firstFactor: get(begun) })), 'login_failed')
      }
      const both = (begun: Challenge) => ({ firstFactor: other.get(begun), secondFactor: credential.get(begun) })
      expect(await logInUser(service, email, both)).toMatchObject({ status: 200 })
      // The same user tries to add a third credential with only one factor, which is refused.
      const third = (begun: CredentialAdditionOptions) => ({ firstFactorCredential: someKeyPair().create(begun) })
      expectError(await addCredential(service, headers, third, confirmationOf), 'confirmation_failed')
    },
  )

  test('as a recovery key that replaces the old one, whose id becomes free', async ({ service }) => {
    const { headers, keyPair } = await createSession(service)
    const confirmationOf = (begun: Challenge) => ({ firstFactor: keyPair.get(begun) })
    const [one, other] = [someKeyPair(), someKeyPair()]
    for (const recovery of [one, other, one]) {
      const reply = await addCredential(
        service,
        headers,
        (begun) => ({ recoveryCredential: recovery.create(begun, {}, RECOVERY) }),
        confirmationOf,
      )
      expect(reply).toMatchObject({ status: 201, body: { kind: 'RecoveryKey', credentialId: null } })
      const entries: { kind: string }[] = await listOf(service, headers)
      expect(entries.filter(({ kind }) => kind === 'RecoveryKey')).toEqual([reply.body])
    }
  })

  test('as a password that replaces the old one, which no longer logs in', async ({ service }) => {
    const { email, keyPair, headers, factorsOf } = await somePasswordUser(service)
    const old = await entryOf(service, headers, 'Password')
    const reply = await addCredential(service, headers, () => newPassword(NEW_PASSWORD), factorsOf)
    expect(reply).toMatchObject({ status: 201, body: { kind: 'Password', factor: 'first' } })
    expect(reply.body.id).not.toBe(old.id)
    expect(await listOf(service, headers)).toHaveLength(2)
    expectError(await logInUser(service, email, factorsOf), 'login_failed')
    const changed = (begun: Challenge) => ({
      firstFactor: passwordOf(NEW_PASSWORD),
      secondFactor: keyPair.get(begun),
    })
    expect(await logInUser(service, email, changed)).toMatchObject({ status: 200 })
  })

  test('as one-time codes that replace the old ones, which no longer work', async ({ service }) => {
    const { email, begun, headers, withCode } = await someCodesUser(service)
    const added = await beginCredentialAddition(service, headers)
    const confirmation = withCode(begun, 1)(added.confirmation)
    const reply = await completeCredentialAddition(service, headers, added, newCode(added), confirmation)
    expect(reply).toMatchObject({ status: 201, body: { kind: 'Totp', factor: 'second' } })
    expect(await listOf(service, headers)).toHaveLength(2)
    for (const steps of [-1, 0, 1]) expectError(await logInUser(service, email, withCode(begun, steps)), 'login_failed')
    expect(await logInUser(service, email, withCode(added, 0))).toMatchObject({ status: 200 })
  })

  test('at the maximum number of credentials only if it replaces another', async ({ service }) => {
    const { headers, keyPair } = await createSession(service)
    const passkey = somePasskey()
    const confirmationOf = (begun: Challenge) => ({ firstFactor: keyPair.get(begun) })
    const additions = [
      ...Array.from({ length: 6 }, () => (begun: CredentialAdditionOptions) => ({
        firstFactorCredential: someKeyPair().create(begun),
      })),
      (begun: CredentialAdditionOptions) => ({ recoveryCredential: someKeyPair().create(begun, {}, RECOVERY) }),
    ]
    for (const addition of additions) {
      expect(await addCredential(service, headers, addition, confirmationOf)).toMatchObject({ status: 201 })
    }
    const ninth = (begun: CredentialAdditionOptions) => ({ firstFactorCredential: passkey.create(begun) })
    expectError(await addCredential(service, headers, ninth, confirmationOf), 'too_many_credentials')
    const recovery = (begun: CredentialAdditionOptions) => ({
      recoveryCredential: someKeyPair().create(begun, {}, RECOVERY),
    })
    expect(await addCredential(service, headers, recovery, confirmationOf)).toMatchObject({ status: 201 })
    expect(await remove(service, headers, await entryOf(service, headers, 'RecoveryKey'))).toMatchObject({
      status: 204,
    })
    // The refused addition stored nothing, so the same credential can be added again.
    expect(await addCredential(service, headers, ninth, confirmationOf)).toMatchObject({ status: 201 })
  })
})

describe('No credential is added', () => {
  test('that is a passkey on the authenticator of another one, which stays valid', async ({ service }) => {
    const authenticator = new Map<string, string>()
    const [one, other] = [1, 2].map(() => somePasskey(undefined, undefined, authenticator))
    const { email } = await registerUser(service, (begun) => ({ firstFactorCredential: one?.create(begun) }))
    const factorsOf = (begun: Challenge) => ({ firstFactor: one?.get(begun) })
    const begun = await beginCredentialAddition(service, await openSession(service, email, factorsOf))
    expect(() => other?.create(begun)).toThrow('InvalidStateError')
    expect(await logInUser(service, undefined, factorsOf)).toMatchObject({ status: 200 })
  })

  type Session = Awaited<ReturnType<typeof createSession>>
  const OTHER = randomBytes(32).toString('base64url')
  const confirmations: [
    string,
    (user: Session, begun: Challenge, passkey: ReturnType<typeof somePasskey>) => object,
  ][] = [
    ['another challenge', ({ keyPair }) => ({ firstFactor: keyPair.get({ challenge: OTHER }) })],
    [
      'another signature',
      ({ keyPair }, begun) => ({ firstFactor: keyPair.get(begun, { signature: 'of something else' }) }),
    ],
    ['another origin', ({ keyPair }, begun) => ({ firstFactor: keyPair.get(begun, { origin: 'https://localhost' }) })],
    ['the new credential', (_, begun, passkey) => ({ firstFactor: passkey.get(begun) })],
    ['a password that the user does not have', () => ({ firstFactor: passwordOf() })],
    [
      'a second factor that the user does not have',
      ({ keyPair }, begun, passkey) => ({ firstFactor: keyPair.get(begun), secondFactor: passkey.get(begun) }),
    ],
  ]
  test.for(confirmations)('if it is confirmed with %s, and its id stays free', async ([, confirm], { service }) => {
    const session = await createSession(service)
    const { headers, keyPair } = session
    const passkey = somePasskey()
    const credentialsOf = (begun: CredentialAdditionOptions) => ({ firstFactorCredential: passkey.create(begun) })
    const wrong = await addCredential(service, headers, credentialsOf, (begun) => confirm(session, begun, passkey))
    expectError(wrong, 'confirmation_failed')
    expect(await listOf(service, headers)).toHaveLength(1)
    const right = await addCredential(service, headers, credentialsOf, (begun) => ({ firstFactor: keyPair.get(begun) }))
    expect(right).toMatchObject({ status: 201 })
  })

  test('if it is confirmed with the recovery key, or by another user', async ({ service }) => {
    const { headers, keyPair } = await createSession(service)
    const [recovery, stranger] = [someKeyPair(), await createSession(service)]
    await addCredential(
      service,
      headers,
      (begun) => ({ recoveryCredential: recovery.create(begun, {}, RECOVERY) }),
      (begun) => ({ firstFactor: keyPair.get(begun) }),
    )
    for (const signer of [recovery, stranger.keyPair]) {
      const reply = await addCredential(
        service,
        headers,
        (begun) => ({ firstFactorCredential: someKeyPair().create(begun) }),
        (begun) => ({ firstFactor: signer.get(begun) }),
      )
      expectError(reply, 'confirmation_failed')
    }
  })

  test('if its own proof is invalid, and the error names the failed check', async ({ service }) => {
    const { headers, keyPair } = await createSession(service)
    const confirmationOf = (begun: Challenge) => ({ firstFactor: keyPair.get(begun) })
    const cases: [string, string, (begun: CredentialAdditionOptions) => object][] = [
      ['firstFactorCredential', 'origin', (begun) => somePasskey().create(begun, { origin: 'https://localhost' })],
      [
        'secondFactorCredential',
        'signature',
        (begun) => someKeyPair().create(begun, { signature: 'of something else' }),
      ],
      [
        'secondFactorCredential',
        'code',
        () => newCode({ otpUrl: 'otpauth://totp/x?secret=AAAA' }).secondFactorCredential,
      ],
      [
        'recoveryCredential',
        'challenge',
        (begun) => someKeyPair().create({ ...begun, challenge: OTHER }, {}, RECOVERY),
      ],
    ]
    for (const [field, check, create] of cases) {
      const reply = await addCredential(service, headers, (begun) => ({ [field]: create(begun) }), confirmationOf)
      expectError(reply, 'invalid_credential', [field])
      expect(reply.body.details).toEqual([{ field, issue: `The ${check} is wrong.` }])
    }
    expect(await listOf(service, headers)).toHaveLength(1)
  })

  test('that is a password without a second factor', async ({ service }) => {
    const { headers, keyPair } = await createSession(service)
    const reply = await addCredential(
      service,
      headers,
      () => newPassword(),
      (begun) => ({ firstFactor: keyPair.get(begun) }),
    )
    expectError(reply, 'missing_or_invalid_second_factor_credential', ['secondFactorCredential'])
  })

  test("whose id belongs to another user's passkey or to any of the user's own credentials", async ({ service }) => {
    const { email, headers, keyPair } = await createSession(service)
    const passkey = somePasskey()
    await registerUser(service, (begun) => ({ firstFactorCredential: passkey.create(begun) }))
    for (const taken of [someKeyPair('P-256', { id: keyPair.id }), somePasskey(passkey.id)]) {
      const reply = await addCredential(
        service,
        headers,
        (begun) => ({ secondFactorCredential: taken.create(begun) }),
        (begun) => ({ firstFactor: keyPair.get(begun) }),
      )
      expectError(reply, 'credential_already_registered')
    }
    // Both users' credentials still work, because the refused registration overwrote nothing.
    expectError(await registerAgain(service, passkey.id), 'credential_already_registered')
    expect(await logInUser(service, email, (begun) => ({ firstFactor: keyPair.get(begun) }))).toMatchObject({
      status: 200,
    })
  })

  test("with a token that is used, expired, another user's, or unknown", async ({ clock, coldService: service }) => {
    const { headers, keyPair } = await createSession(service)
    const other = await createSession(service)
    const add = (
      begun: CredentialAdditionOptions,
      { temporaryAuthenticationToken }: Pick<CredentialAdditionOptions, 'temporaryAuthenticationToken'> = begun,
      as: Headers = headers,
    ) =>
      completeCredentialAddition(
        service,
        as,
        { temporaryAuthenticationToken },
        { firstFactorCredential: someKeyPair().create(begun) },
        { firstFactor: keyPair.get(begun.confirmation) },
      )
    const used = await beginCredentialAddition(service, headers)
    expect(await add(used)).toMatchObject({ status: 201 })
    expectError(await add(used), 'challenge_expired_or_used')
    const failed = await beginCredentialAddition(service, headers)
    const wrong = { firstFactorCredential: someKeyPair().create(used) }
    const confirmation = { firstFactor: keyPair.get(failed.confirmation) }
    expectError(await completeCredentialAddition(service, headers, failed, wrong, confirmation), 'invalid_credential', [
      'firstFactorCredential',
    ])
    expectError(await add(failed), 'challenge_expired_or_used')
    const ours = await beginCredentialAddition(service, headers)
    expectError(await add(ours, ours, other.headers), 'challenge_expired_or_used')
    expectError(await add(ours, { ...ours, temporaryAuthenticationToken: OTHER }), 'challenge_expired_or_used')
    expectError(await add(ours, await beginRegistration(service)), 'challenge_expired_or_used')
    const late = await beginCredentialAddition(service, headers)
    clock.pass(10 * 60 + 1)
    expectError(await add(late), 'challenge_expired_or_used')
  })

  const FIRST = 'missing_or_invalid_first_factor_credential'
  const CONFIRMATION = 'missing_or_invalid_first_factor'
  const malformed: [string, Parameters<typeof expectError>[1], (right: Record<string, object>) => object, string[]][] =
    [
      ['no credential', FIRST, () => ({ firstFactorCredential: undefined }), ['firstFactorCredential']],
      [
        'two credentials',
        FIRST,
        ({ firstFactorCredential }) => ({ secondFactorCredential: firstFactorCredential }),
        ['firstFactorCredential'],
      ],
      [
        'no token',
        'missing_or_invalid_temporary_authentication_token',
        () => ({ temporaryAuthenticationToken: null }),
        ['temporaryAuthenticationToken'],
      ],
      ['no confirmation', CONFIRMATION, () => ({ confirmation: undefined }), ['confirmation']],
      ['no first factor to confirm it', CONFIRMATION, () => ({ confirmation: {} }), ['confirmation.firstFactor']],
      [
        'a second factor that can only be a first',
        'missing_or_invalid_second_factor',
        ({ confirmation }) => ({ confirmation: { ...confirmation, secondFactor: passwordOf() } }),
        ['confirmation.secondFactor.kind'],
      ],
      ['an unknown field', 'unknown_field', () => ({ credential: 1 }), ['credential']],
    ]
  test.for(malformed)('with %s, which does not use up the token', async ([, code, change, fields], { service }) => {
    const { headers, keyPair } = await createSession(service)
    const { temporaryAuthenticationToken, ...begun } = await beginCredentialAddition(service, headers)
    const right = {
      firstFactorCredential: someKeyPair().create(begun),
      confirmation: { firstFactor: keyPair.get(begun) },
    }
    const call = (extra: object) =>
      service.call('POST', CREDENTIALS, { headers, body: { temporaryAuthenticationToken, ...right, ...extra } })
    expectError(await call(change(right)), code, fields)
    expect(await call({})).toMatchObject({ status: 201 })
  })
})

async function registerAgain(service: Service, id: string): Promise<HttpReply> {
  const begun = await beginRegistration(service)
  const { temporaryAuthenticationToken } = begun
  const firstFactorCredential = somePasskey(id).create(begun)
  return await service.call('POST', '/auth/register', { body: { temporaryAuthenticationToken, firstFactorCredential } })
}

describe('A credential is removed', () => {
  test('and no longer logs in, while its id becomes free', async ({ service }) => {
    const { email, headers, keyPair } = await createSession(service)
    const passkey = somePasskey()
    await addCredential(
      service,
      headers,
      (begun) => ({ firstFactorCredential: passkey.create(begun) }),
      (begun) => ({ firstFactor: keyPair.get(begun) }),
    )
    const reply = await remove(service, headers, await entryOf(service, headers, 'Fido2'))
    expect(reply).toMatchObject({ status: 204, body: undefined })
    expect(await listOf(service, headers)).toMatchObject([{ kind: 'Key' }])
    expectError(await logInUser(service, email, (begun) => ({ firstFactor: passkey.get(begun) })), 'login_failed')
    expect(await logInUser(service, email, (begun) => ({ firstFactor: keyPair.get(begun) }))).toMatchObject({
      status: 200,
    })
    expect(await registerAgain(service, passkey.id)).toMatchObject({ status: 200 })
  })

  test('only in a session of the last ten minutes', async ({ clock, coldService: service }) => {
    const { email, headers, keyPair } = await createSession(service)
    await addCredential(
      service,
      headers,
      (begun) => ({ recoveryCredential: someKeyPair().create(begun, {}, RECOVERY) }),
      (begun) => ({ firstFactor: keyPair.get(begun) }),
    )
    const entry = await entryOf(service, headers, 'RecoveryKey')
    clock.pass(10 * 60 + 1)
    expectError(await remove(service, headers, entry), 'fresh_login_required')
    const fresh = await openSession(service, email, (begun) => ({ firstFactor: keyPair.get(begun) }))
    clock.pass(10 * 60 - 5)
    expect(await remove(service, fresh, entry)).toMatchObject({ status: 204 })
  })

  test('never if it is the last first factor', async ({ service }) => {
    const { headers, keyPair } = await createSession(service)
    const confirmationOf = (begun: Challenge) => ({ firstFactor: keyPair.get(begun) })
    const additions: ((begun: CredentialAdditionOptions) => object)[] = [
      (begun) => ({ recoveryCredential: someKeyPair().create(begun, {}, RECOVERY) }),
      (begun) => ({ secondFactorCredential: somePasskey().create(begun) }),
    ]
    for (const addition of additions) await addCredential(service, headers, addition, confirmationOf)
    expectError(await remove(service, headers, await entryOf(service, headers, 'Key')), 'last_first_factor')
    // The user can remove the second factor, because a login needs one only together with a password.
    for (const kind of ['Fido2', 'RecoveryKey']) {
      expect(await remove(service, headers, await entryOf(service, headers, kind))).toMatchObject({ status: 204 })
    }
  })

  test('never if it is the last second factor of a password', async ({ service }) => {
    const { headers, factorsOf } = await somePasswordUser(service)
    expectError(await remove(service, headers, await entryOf(service, headers, 'Key')), 'last_second_factor')
    expectError(await remove(service, headers, await entryOf(service, headers, 'Password')), 'last_first_factor')
    const second = (begun: CredentialAdditionOptions) => ({ secondFactorCredential: somePasskey().create(begun) })
    expect(await addCredential(service, headers, second, factorsOf)).toMatchObject({ status: 201 })
    expect(await remove(service, headers, await entryOf(service, headers, 'Key'))).toMatchObject({ status: 204 })
    expectError(await remove(service, headers, await entryOf(service, headers, 'Fido2')), 'last_second_factor')
  })

  test('only once, and only by its user', async ({ service }) => {
    const { email, headers, keyPair } = await createSession(service)
    const other = await createSession(service)
    await addCredential(
      service,
      headers,
      (begun) => ({ firstFactorCredential: somePasskey().create(begun) }),
      (begun) => ({ firstFactor: keyPair.get(begun) }),
    )
    const entry = await entryOf(service, headers, 'Fido2')
    expectError(await remove(service, other.headers, entry), 'credential_not_found')
    expect(await remove(service, headers, entry)).toMatchObject({ status: 204 })
    expectError(await remove(service, headers, entry), 'credential_not_found')
    expectError(await remove(service, headers, { id: 'constructor' }), 'credential_not_found', ['id'])
    expectError(await service.call('DELETE', `${CREDENTIALS}/${entry.id}`), 'missing_session')
    expect(await logInUser(service, email, (begun) => ({ firstFactor: keyPair.get(begun) }))).toMatchObject({
      status: 200,
    })
  })
})

describe('Of parallel changes,', () => {
  const statusesOf = (replies: readonly HttpReply[]) => replies.map(({ status }) => status).sort()

  test('all additions are made', async ({ service }) => {
    const { email, headers, keyPair } = await createSession(service)
    const passkeys = [somePasskey(), somePasskey(), somePasskey()]
    const replies = await Promise.all(
      passkeys.map((passkey) =>
        addCredential(
          service,
          headers,
          (begun) => ({ firstFactorCredential: passkey.create(begun) }),
          (begun) => ({ firstFactor: keyPair.get(begun) }),
        ),
      ),
    )
    expect(statusesOf(replies)).toEqual([201, 201, 201])
    expect(await listOf(service, headers)).toHaveLength(4)
    for (const passkey of passkeys) {
      expect(await logInUser(service, email, (begun) => ({ firstFactor: passkey.get(begun) }))).toMatchObject({
        status: 200,
      })
    }
  })

  test('two additions that the same code confirms, one is made', async ({ service }) => {
    const { begun, headers, withCode } = await someCodesUser(service)
    const replies = await Promise.all(
      [1, 2].map(() =>
        addCredential(
          service,
          headers,
          (options) => ({ firstFactorCredential: somePasskey().create(options) }),
          withCode(begun, 1),
        ),
      ),
    )
    expect(statusesOf(replies)).toEqual([201, 401])
    for (const reply of replies.filter(({ status }) => status === 401)) expectError(reply, 'confirmation_failed')
    expect(await listOf(service, headers)).toHaveLength(3)
  })

  test('two additions of the same credential, one is made', async ({ service }) => {
    const { email, headers, keyPair } = await createSession(service)
    const passkey = somePasskey()
    for (const credential of [someKeyPair(), passkey]) {
      const replies = await Promise.all(
        [1, 2].map(() =>
          addCredential(
            service,
            headers,
            (begun) => ({ firstFactorCredential: credential.create(begun) }),
            (begun) => ({ firstFactor: keyPair.get(begun) }),
          ),
        ),
      )
      expect(statusesOf(replies)).toEqual([201, 409])
      expect(await logInUser(service, email, (begun) => ({ firstFactor: credential.get(begun) }))).toMatchObject({
        status: 200,
      })
    }
    expectError(await registerAgain(service, passkey.id), 'credential_already_registered')
  })

  test('two removals of the last two first factors, one is made', async ({ service }) => {
    for (let round = 0; round < 5; round += 1) {
      const { headers, keyPair } = await createSession(service)
      await addCredential(
        service,
        headers,
        (begun) => ({ firstFactorCredential: somePasskey().create(begun) }),
        (begun) => ({ firstFactor: keyPair.get(begun) }),
      )
      const entries: { id: string }[] = await listOf(service, headers)
      const replies = await Promise.all(entries.map((entry) => remove(service, headers, entry)))
      expect(statusesOf(replies)).toEqual([204, 409])
      for (const reply of replies.filter(({ status }) => status === 409)) expectError(reply, 'last_first_factor')
      expect(await listOf(service, headers)).toHaveLength(1)
    }
  })

  const WITH_WHAT_IS_REMOVED: [
    string,
    Parameters<typeof expectError>[1],
    (service: Service, user: Awaited<ReturnType<typeof somePasswordUser>>) => Promise<() => Promise<HttpReply>>,
  ][] = [
    [
      'a login with',
      'login_failed',
      async (service, { email, factorsOf }) => {
        const begun = await beginLogin(service, email)
        return () => completeLogin(service, begun, factorsOf(begun))
      },
    ],
    [
      'an addition confirmed by',
      'confirmation_failed',
      async (service, { headers, factorsOf }) => {
        const begun = await beginCredentialAddition(service, headers)
        const credential = { firstFactorCredential: someKeyPair().create(begun) }
        return () => completeCredentialAddition(service, headers, begun, credential, factorsOf(begun.confirmation))
      },
    ],
  ]
  test.for(WITH_WHAT_IS_REMOVED)(
    '%s a credential fails if its removal comes first',
    async ([, code, prepare], { service }) => {
      const user = await somePasswordUser(service)
      const { headers, factorsOf } = user
      const passkey = (begun: CredentialAdditionOptions) => ({ firstFactorCredential: somePasskey().create(begun) })
      expect(await addCredential(service, headers, passkey, factorsOf)).toMatchObject({ status: 201 })
      const password = await entryOf(service, headers, 'Password')
      const { acting, release } = await untilRead(service, await prepare(service, user))
      expect(await remove(service, headers, password)).toMatchObject({ status: 204 })
      release()
      expectError(await acting, code)
      expect(await listOf(service, headers)).toMatchObject([{ kind: 'Key' }, { kind: 'Fido2' }])
    },
  )

  test('an addition and a login in between both succeed', async ({ service }) => {
    const { email, headers, factorsOf, keyPair } = await somePasswordUser(service)
    const passkey = somePasskey()
    const credentialOf = (begun: CredentialAdditionOptions) => ({ firstFactorCredential: passkey.create(begun) })
    expect(await addCredential(service, headers, credentialOf, factorsOf)).toMatchObject({ status: 201 })
    const begun = await beginCredentialAddition(service, headers)
    const recovery = { recoveryCredential: someKeyPair().create(begun, {}, RECOVERY) }
    const confirmation = factorsOf(begun.confirmation)
    const { acting, release } = await untilRead(service, () =>
      completeCredentialAddition(service, headers, begun, recovery, confirmation),
    )
    const between = await openSession(service, email, (challenge) => ({
      firstFactor: passkey.get(challenge),
      secondFactor: keyPair.get(challenge),
    }))
    release()
    expect(await acting).toMatchObject({ status: 201 })
    const { body } = await service.call('GET', '/auth/sessions', { headers: between })
    expect(body.sessions).toHaveLength(2)
    expect(await listOf(service, between)).toHaveLength(4)
  })

  async function untilRead(service: Service, act: () => Promise<HttpReply>) {
    const reached = Promise.withResolvers<void>()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    let hasPaused = false
    service.table.hold = ({ action, body }) => {
      if (hasPaused || action !== 'UpdateItem' || !body.includes('"USER#')) return undefined
      hasPaused = true
      reached.resolve()
      return released
    }
    const acting = act()
    await reached.promise
    return { acting, release }
  }
})
