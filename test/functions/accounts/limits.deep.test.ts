import { createHook } from 'node:async_hooks'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, vi } from 'vitest'
import {
  addCredential,
  beginLogin,
  completeLogin,
  createSession,
  oneTimeCode,
  openSession,
  recoverAccount,
  registerUser,
  someEmail,
} from '../../support/accounts.ts'
import { type CreationOptions, someKeyPair, somePasskey } from '../../support/credentials.ts'
import { expectError } from '../../support/errors.ts'
import { chainlessTest as base, type HttpReply, type Service, startNewContainers } from '../../support/service.ts'

const LIMITS = { perNetwork: 5, perUser: 2, perSeed: 3 }
const THIRTY_DAYS = 30 * 24 * 3600
const PASSWORD = 'correct horse battery staple'

/** Two containers have low rate limits and share a clock, which tests advance by `pass`. */
const test = base
  .extend('containers', { scope: 'file' }, async ({ sharedService }, { onCleanup }) => {
    const { now } = Date
    let passed = 0
    Date.now = () => now() + passed
    vi.stubEnv('RATE_LIMITS', JSON.stringify(LIMITS))
    const [one, other] = [
      await startNewContainers(sharedService, { isWhole: true }),
      await startNewContainers(sharedService, { isWhole: true }),
    ]
    onCleanup(async () => {
      Date.now = now
      vi.unstubAllEnvs()
      await Promise.all([one, other].map(({ stop }) => stop()))
    })
    const pass = (seconds: number) => {
      passed += seconds * 1000
    }
    return { services: [one.service, other.service] as const, pass }
  })
  .extend('pass', ({ containers }) => containers.pass)
  /** Advances the clock to the next period of ten minutes, in which no attempt has been counted yet. */
  .extend('strict', ({ service: _, containers: { services }, pass }) => {
    pass(600 - (Math.floor(Date.now() / 1000) % 600))
    return services
  })

type Who = { readonly email?: string; readonly key?: string }

async function tryLogin(service: Service, { email, key }: Who, factorsOf: (begun: { challenge: string }) => object) {
  const begun = await beginLogin(service, email, key)
  return await completeLogin(service, begun, factorsOf(begun), { ...(key && { key }) })
}

const wrongPassword = (service: Service, who: Who) =>
  tryLogin(service, who, (begun) => ({
    firstFactor: { kind: 'Password', password: 'wrong password' },
    secondFactor: someKeyPair().get(begun),
  }))

const wrongRecovery = (service: Service, email: string) =>
  recoverAccount(service, email, someKeyPair(), (begun) => ({ firstFactorCredential: someKeyPair().create(begun) }))

async function somePasswordUser(service: Service, options: { email?: string; key?: string } = {}) {
  const keyPair = someKeyPair()
  const { email } = await registerUser(
    service,
    (begun) => ({
      firstFactorCredential: { credentialKind: 'Password', credentialInfo: { password: PASSWORD } },
      secondFactorCredential: keyPair.create(begun),
    }),
    options,
  )
  const factorsOf = (begun: { challenge: string }) => ({
    firstFactor: { kind: 'Password', password: PASSWORD },
    secondFactor: keyPair.get(begun),
  })
  return { email, factorsOf, login: (container: Service) => tryLogin(container, { ...options, email }, factorsOf) }
}

function operationsOnUsers({ table }: Service): string[] {
  const ofUsers = table.tries.filter(({ table: name }) => name.endsWith('users'))
  return ofUsers.map(({ action }) => action)
}

async function statuses(replies: readonly Promise<HttpReply>[]): Promise<number[]> {
  return (await Promise.all(replies)).map(({ status }) => status).sort()
}

describe('Wrong passwords', () => {
  test('are limited for a user, in any case of the address, across containers, also in parallel', async ({
    service,
    strict,
  }) => {
    const { email, login } = await somePasswordUser(service)
    const tries = Array.from({ length: 5 }, (_, i) =>
      wrongPassword(strict[i % 2 ? 0 : 1], { email: i % 2 ? email : email.toUpperCase() }),
    )
    expect(await statuses(tries)).toEqual([401, 401, 429, 429, 429])
    for (const container of strict) expectError(await login(container), 'too_many_requests')
  })

  test('are limited for an unknown user in the same way, with the same work', async ({
    service,
    strict: [container],
  }) => {
    const { email } = await somePasswordUser(service)
    const tryLogins = async (named: string) => {
      const tries: unknown[] = []
      for (let i = 0; i < LIMITS.perUser + 2; i += 1) {
        service.table.reset()
        const { status, body } = await wrongPassword(container, { email: named })
        tries.push([status, body.code, operationsOnUsers(service)])
      }
      return tries
    }
    // The first request makes the container cache the client's API key. The compared requests then read the same
    // items.
    await tryLogin(container, { email }, (begun) => ({ firstFactor: someKeyPair().get(begun) }))
    const observed = await tryLogins(email)
    expect(observed.map((one) => (one as [number])[0])).toEqual([401, 401, 429, 429])
    expect(await tryLogins(someEmail())).toEqual(observed)
  })

  test('also count in the confirmation of a new credential', async ({ service, strict: [container] }) => {
    const { email, factorsOf, login } = await somePasswordUser(service)
    const headers = await openSession(service, email, factorsOf)
    const add = (confirmationOf: typeof factorsOf) =>
      addCredential(
        container,
        headers,
        (begun) => ({ firstFactorCredential: somePasskey().create(begun) }),
        confirmationOf,
      )
    const wrong = (begun: { challenge: string }) => ({
      ...factorsOf(begun),
      firstFactor: { kind: 'Password', password: 'wrong password' },
    })
    for (let i = 0; i < LIMITS.perUser; i += 1) expectError(await add(wrong), 'confirmation_failed')
    expectError(await add(factorsOf), 'too_many_requests')
    expectError(await login(container), 'too_many_requests')
  })

  test('are limited for a network, and refused attempts do not count', async ({ strict: [service] }) => {
    const [email = '', ...others] = Array.from({ length: 4 }, someEmail)
    const replies = Array.from({ length: 6 }, () => wrongPassword(service, { email }))
    expect(await statuses(replies)).toEqual([401, 401, 429, 429, 429, 429])
    for (const other of others) expectError(await wrongPassword(service, { email: other }), 'login_failed')
    expectError(await wrongPassword(service, { email: someEmail() }), 'too_many_requests')
  })

  test('can be tried again after the Retry-After time', async ({ service, strict: [container], pass }) => {
    const { email, login } = await somePasswordUser(service)
    for (let i = 0; i < LIMITS.perUser; i += 1) await wrongPassword(container, { email })
    pass(100)
    const refused = await login(container)
    expectError(refused, 'too_many_requests')
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(500)
    pass(seconds)
    expect(await login(container)).toMatchObject({ status: 200 })
  })

  test('count, and right ones do not', async ({ service, strict: [container] }) => {
    const { email, login } = await somePasswordUser(service)
    for (let i = 0; i < LIMITS.perUser; i += 1) expect(await login(container)).toMatchObject({ status: 200 })
    expectError(await wrongPassword(container, { email }), 'login_failed')
    expect(await login(container)).toMatchObject({ status: 200 })
  })

  test('do not block a login with a passkey or a key', async ({ service, strict: [container] }) => {
    const [passkey, keyPair] = [somePasskey(), someKeyPair()]
    const withPasskey = await registerUser(service, (begun) => ({ firstFactorCredential: passkey.create(begun) }))
    const withKey = await registerUser(service, (begun) => ({ firstFactorCredential: keyPair.create(begun) }))
    for (const { email } of [withPasskey, withKey]) {
      for (let i = 0; i < LIMITS.perUser; i += 1) await wrongPassword(container, { email })
      expectError(await wrongPassword(container, { email }), 'too_many_requests')
    }
    for (const email of [undefined, withPasskey.email]) {
      const reply = await tryLogin(container, email ? { email } : {}, (begun) => ({ firstFactor: passkey.get(begun) }))
      expect(reply).toMatchObject({ status: 200, body: { user: { email: withPasskey.email } } })
    }
    const reply = await tryLogin(container, withKey, (begun) => ({ firstFactor: keyPair.get(begun) }))
    expect(reply).toMatchObject({ status: 200 })
  })

  test("and 1,000 other requests with a client's key block no user of another client", {
    timeout: 120_000,
  }, async ({ service, strict: [container] }) => {
    const key = await service.createClient([])
    const { email, login } = await somePasswordUser(service, { key })
    const flood = Array.from({ length: 10 }, async () => {
      for (let i = 0; i < 60; i += 1) await beginLogin(container, email)
      for (let i = 0; i < 10; i += 1) await wrongPassword(container, { email })
      for (let i = 0; i < 10; i += 1) await wrongRecovery(container, email)
    })
    await Promise.all(flood)
    expectError(await wrongPassword(container, { email }), 'too_many_requests')
    expect(await login(container)).toMatchObject({ status: 200 })
  })
})

describe('No password is hashed for', () => {
  const newPassword = (begun: CreationOptions) => ({
    firstFactorCredential: { credentialKind: 'Password', credentialInfo: { password: PASSWORD } },
    secondFactorCredential: someKeyPair().create(begun),
  })
  const STRANGERS: [string, 'recovery_failed' | 'confirmation_failed', (service: Service) => Promise<HttpReply>][] = [
    [
      'a recovery signed with a foreign key',
      'recovery_failed',
      async (service) => recoverAccount(service, (await createSession(service)).email, someKeyPair(), newPassword),
    ],
    [
      'an addition with only a session',
      'confirmation_failed',
      async (service) => {
        const { headers } = await createSession(service)
        const add = ({ secondFactorCredential: _, ...first }: ReturnType<typeof newPassword>) => first
        return addCredential(
          service,
          headers,
          (begun) => add(newPassword(begun)),
          (begun) => ({ firstFactor: someKeyPair().get(begun) }),
        )
      },
    ],
  ]
  test.for(STRANGERS)('%s', async ([, code, ask], { service }) => {
    const hashed: string[] = []
    const hook = createHook({ init: (_, type) => type === 'SCRYPTREQUEST' && hashed.push(type) })
    hook.enable()
    const reply = await ask(service)
    hook.disable()
    expectError(reply, code)
    expect(hashed).toEqual([])
  })
})

describe('Wrong codes', () => {
  test('after a valid passkey are limited, and other attempts do not count', async ({
    service,
    strict: [container],
  }) => {
    const passkey = somePasskey()
    const { email, begun } = await registerUser(service, (options) => ({
      firstFactorCredential: passkey.create(options),
      secondFactorCredential: { credentialKind: 'Totp', credentialInfo: { otpCode: oneTimeCode(options.otpUrl, -1) } },
    }))
    const loginWith = (device: typeof passkey, otpCode: string) =>
      tryLogin(container, { email }, (started) => ({
        firstFactor: device.get(started),
        secondFactor: { kind: 'Totp', otpCode },
      }))
    const wrong = oneTimeCode(begun.otpUrl, 100)
    for (let i = 0; i < 5; i += 1) expectError(await loginWith(somePasskey(passkey.id), wrong), 'login_failed')
    for (let i = 0; i < LIMITS.perUser; i += 1) expectError(await loginWith(passkey, wrong), 'login_failed')
    expectError(await loginWith(passkey, oneTimeCode(begun.otpUrl)), 'too_many_requests')
  })
})

describe('Wrong codes of one generator', () => {
  const TEN_MINUTES = 600
  const TEN_DAYS = 10 * 24 * 3600
  test('after a right password are limited in thirty days, and right codes are not', async ({
    service,
    strict: [container],
    pass,
  }) => {
    const { email, begun } = await registerUser(service, (options) => ({
      firstFactorCredential: { credentialKind: 'Password', credentialInfo: { password: PASSWORD } },
      secondFactorCredential: {
        credentialKind: 'Totp',
        credentialInfo: { otpCode: oneTimeCode(options.otpUrl, -1) },
      },
    }))
    const loginWith = (steps: number) =>
      tryLogin(container, { email }, () => ({
        firstFactor: { kind: 'Password', password: PASSWORD },
        secondFactor: { kind: 'Totp', otpCode: oneTimeCode(begun.otpUrl, steps) },
      }))
    pass(THIRTY_DAYS - ((Date.now() / 1000) % THIRTY_DAYS))
    for (let i = 0; i < LIMITS.perSeed; i += 1) {
      expect(await loginWith(0)).toMatchObject({ status: 200 })
      expectError(await loginWith(100), 'login_failed')
      pass(TEN_MINUTES)
    }
    const refused = await loginWith(0)
    expectError(refused, 'too_many_requests')
    pass(TEN_DAYS)
    expectError(await loginWith(0), 'too_many_requests')
    pass(Number(refused.headers.get('retry-after')) - TEN_DAYS)
    expect(await loginWith(0)).toMatchObject({ status: 200 })
  })

  test('are checked with the same work after a wrong password', async ({ service, strict: [container] }) => {
    const { email, begun } = await registerUser(service, (options) => ({
      firstFactorCredential: { credentialKind: 'Password', credentialInfo: { password: PASSWORD } },
      secondFactorCredential: { credentialKind: 'Totp', credentialInfo: { otpCode: oneTimeCode(options.otpUrl, -1) } },
    }))
    const actionsOf = async (password: string) => {
      const started = await beginLogin(container, email)
      service.table.reset()
      const factors = {
        firstFactor: { kind: 'Password', password },
        secondFactor: { kind: 'Totp', otpCode: oneTimeCode(begun.otpUrl, 100) },
      }
      expectError(await completeLogin(container, started, factors), 'login_failed')
      return operationsOnUsers(service)
    }
    await tryLogin(container, { email }, (started) => ({ firstFactor: someKeyPair().get(started) }))
    expect(await actionsOf('wrong password')).toEqual(await actionsOf(PASSWORD))
  })
})

describe('Starts of registrations', () => {
  const start = (service: Service, email: string) =>
    service.call('POST', '/auth/register/init', { key: null, headers: { platform: 'web' }, body: { email } })

  test('are limited for a network, across containers, also in parallel', async ({ strict }) => {
    const replies = Array.from({ length: 12 }, (_, i) => start(strict[i % 2 ? 0 : 1], someEmail()))
    expect(await statuses(replies)).toEqual([...Array(5).fill(200), ...Array(7).fill(429)])
  })

  test('are not limited for an e-mail address, which any caller can name', async ({ strict: [service] }) => {
    const email = someEmail()
    for (let i = 0; i < LIMITS.perNetwork; i += 1) expect(await start(service, email)).toMatchObject({ status: 200 })
  })
})

describe('A start without authentication', () => {
  const email = `${'a'.repeat(242)}@example.com`
  const STARTS: [string, string, object, string[]][] = [
    ['a login', '/auth/login/init', { email }, ['GetItem', 'PutItem']],
    ['a login without an e-mail address', '/auth/login/init', {}, ['PutItem']],
    ['a recovery', '/auth/recover/init', { email }, ['PutItem']],
    ['a recovery with a key', '/auth/recover/init', { email, credentialId: someKeyPair().id }, ['GetItem', 'PutItem']],
    // A registration causes one more UpdateItem, which counts the registration for the caller's network.
    ['a registration', '/auth/register/init', { email }, ['PutItem', 'UpdateItem']],
  ]
  test.for(STARTS)(
    'of %s writes one item of less than 1 KB, which ends after ten minutes',
    async ([, path, body, actions], { strict: [container], service: { table } }) => {
      const start = () => container.call('POST', path, { headers: { platform: 'web' }, body })
      await start()
      table.reset()
      expect(await start()).toMatchObject({ status: 200 })
      expect(operationsOnUsers(container).sort()).toEqual(actions)
      const [put] = table.tries.filter(({ action }) => action === 'PutItem').map(({ body }) => JSON.parse(body).item)
      expect(JSON.stringify(put).length).toBeLessThan(1024)
      expect(Number(put.expiresAt)).toBeLessThanOrEqual(Date.now() / 1000 + 600)
    },
  )
})

describe('Wrong signatures of wallets', () => {
  test('are limited for a user; right ones and those of others do not count', async ({ service, strict }) => {
    const [container] = strict
    const link = async ({ headers }: { headers: Record<string, string> }, { isRight }: { isRight: boolean }) => {
      const wallet = privateKeyToAccount(generatePrivateKey())
      const body = { address: wallet.address, chain: 'evm' }
      const { message } = (await container.call('POST', '/auth/wallets/init', { headers, body })).body
      const signature = isRight ? await wallet.signMessage({ message }) : 'wrong'
      return container.call('POST', '/auth/wallets', { headers, body: { message, signature } })
    }
    const [session, other] = [await createSession(service), await createSession(service)]
    const more = Array.from({ length: LIMITS.perUser + 1 })
    for (const _ of more) expect(await link(session, { isRight: true })).toMatchObject({ status: 201 })
    const replies = more.map(() => link(session, { isRight: false }))
    expect(await statuses(replies)).toEqual([400, 400, 429])
    expectError(await link(session, { isRight: true }), 'too_many_requests')
    expect(await link(other, { isRight: true })).toMatchObject({ status: 201 })
  })
})

describe('The stored count of a limit', () => {
  test('contains neither the e-mail address nor the IP address', async ({
    strict: [container],
    service: { table },
  }) => {
    const email = someEmail()
    await wrongPassword(container, { email })
    const counted = table.tries.map(({ body }) => body).filter((body) => body.includes('LIMIT#'))
    expect(counted).toHaveLength(2)
    for (const body of counted) {
      expect(body).not.toContain(email)
      expect(body).not.toContain('127.0.0.1')
    }
  })
})
