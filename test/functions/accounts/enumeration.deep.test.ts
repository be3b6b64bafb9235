import { createHook } from 'node:async_hooks'
import { verify } from 'node:crypto'
import { describe, expect, vi } from 'vitest'
import { endpoints } from '../../../functions/contracts.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import {
  addCredential,
  beginLogin,
  beginRecovery,
  beginRegistration,
  completeLogin,
  completeRecovery,
  completeRegistration,
  createSession,
  oneTimeCode,
  registerUser,
  signRecovery,
  someEmail,
} from '../../support/accounts.ts'
import { type CreationOptions, type CredentialFaults, someKeyPair, somePasskey } from '../../support/credentials.ts'
import { expectError } from '../../support/errors.ts'
import { chainlessTest as base, type HttpReply, type Service } from '../../support/service.ts'

// Writing log lines would count as work in the comparison of known and unknown users, so logging is off.
vi.hoisted(() => {
  process.env['POWERTOOLS_LOG_LEVEL'] = 'SILENT'
})

// The mock counts the signature verifications. It calls the real function for each.
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>()
  return { ...crypto, verify: vi.fn(crypto.verify) }
})

const [KEY, OTHER_KEY, PASSKEY] = [someKeyPair(), someKeyPair(), somePasskey()]
const PASSWORD = 'correct horse battery staple'

async function knownEmails(service: Service): Promise<string[]> {
  const users = await Promise.all([
    registerUser(service, (begun) => ({ firstFactorCredential: somePasskey().create(begun) })),
    registerUser(service, (begun) => ({ firstFactorCredential: someKeyPair().create(begun) })),
    registerUser(service, (begun) => ({
      firstFactorCredential: someKeyPair().create(begun),
      secondFactorCredential: someKeyPair('Ed25519').create(begun),
      recoveryCredential: OTHER_KEY.create(begun, {}, { kind: 'RecoveryKey', encryptedPrivateKey: 'x' }),
    })),
    registerUser(service, (begun) => ({
      firstFactorCredential: someKeyPair().create(
        begun,
        {},
        { kind: 'PasswordProtectedKey', encryptedPrivateKey: 'x' },
      ),
      recoveryCredential: someKeyPair().create(begun, {}, { kind: 'RecoveryKey' }),
    })),
    registerUser(service, ({ otpUrl }) => ({
      firstFactorCredential: { credentialKind: 'Password', credentialInfo: { password: PASSWORD } },
      secondFactorCredential: { credentialKind: 'Totp', credentialInfo: { otpCode: oneTimeCode(otpUrl) } },
    })),
  ])
  return users.map(({ email }) => email)
}

/** Returns all that a caller can see of a reply. Random texts, for example challenges, are replaced by their length. */
function visibleShape({ status, headers, body }: HttpReply, email: string): unknown {
  const shape = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const text = value.replace(email, 'email').replace(encodeURIComponent(email), 'email')
      return /^[\w+/=-]{36,}$/.test(text) ? `text of ${text.length}` : text.replace(/secret=[A-Z2-7]{32}/, 'secret')
    }
    if (Array.isArray(value)) return value.map(shape)
    if (typeof value !== 'object' || value === null) return value
    return Object.entries(value).map(([name, part]) => [name, shape(part)])
  }
  // These headers change with every reply. Signatures cover the body and the current second. `ratelimit` has the number
  // of requests that the key has left.
  const changing = ['date', 'x-request-id', 'content-digest', 'signature', 'signature-input', 'ratelimit']
  const stableHeaders = [...headers].map(([name, value]) => (changing.includes(name) ? name : [name, value]))
  return { status, stableHeaders, body: shape(body) }
}

/**
 * Lists the requests to the users' table. Requests to the clients' table are excluded, because any user causes one
 * each minute.
 */
function operationsOf(service: Service): string[] {
  const ofUsers = service.table.tries.filter(({ table }) => table.endsWith('users'))
  return ofUsers.map(({ action, request }) => `${action} ${Object.keys(request).sort().join()}`)
}

const initOf = (service: Service, email: string) => service.call('POST', '/auth/login/init', { body: { email } })
const registerInitOf = (service: Service, email: string) =>
  service.call('POST', '/auth/register/init', { key: null, headers: { platform: 'web' }, body: { email } })
const loginOf =
  (factorsOf: (begun: { challenge: string }) => object) =>
  async (service: Service, email: string): Promise<HttpReply> => {
    const begun = await beginLogin(service, email)
    service.table.reset()
    return await completeLogin(service, begun, factorsOf(begun))
  }
const recoverInitOf =
  (fields: object = {}) =>
  (service: Service, email: string) =>
    service.call('POST', '/auth/recover/init', { headers: { platform: 'web' }, body: { email, ...fields } })
const recoverOf =
  (recoveryOf: (newCredentials: object) => object, faults: CredentialFaults = {}) =>
  async (service: Service, email: string): Promise<HttpReply> => {
    const begun = await beginRecovery(service, email)
    const newCredentials = { firstFactorCredential: someKeyPair().create(begun, faults) }
    service.table.reset()
    return await completeRecovery(service, begun, recoveryOf(newCredentials), newCredentials)
  }
const signedByOther = (newCredentials: object) => {
  const { credentialAssertion, kind } = signRecovery(KEY, newCredentials)
  return { kind, credentialAssertion: { ...credentialAssertion, credId: OTHER_KEY.id } }
}

const CALLS: [keyof typeof endpoints, string, (service: Service, email: string) => Promise<HttpReply>][] = [
  ['accounts/register-init', 'the start of a registration', registerInitOf],
  ['accounts/recover-init', 'the start of a recovery', recoverInitOf()],
  ['accounts/recover-init', 'the start of a recovery with the id of a key', recoverInitOf({ credentialId: KEY.id })],
  ['accounts/recover', 'a recovery', recoverOf((newCredentials) => signRecovery(KEY, newCredentials))],
  ['accounts/recover', 'a recovery with the id of a recovery key', recoverOf(signedByOther)],
  [
    'accounts/recover',
    'a recovery to a wrong credential',
    recoverOf((newCredentials) => signRecovery(KEY, newCredentials), { origin: 'http://localhost:6666' }),
  ],
  ['accounts/login-init', 'the start of a login', initOf],
  ['accounts/login', 'a login with a key', loginOf((begun) => ({ firstFactor: KEY.get(begun) }))],
  [
    'accounts/login',
    'a login with a passkey',
    loginOf((begun) => ({ firstFactor: PASSKEY.get(begun, { userHandle: 'eA' }) })),
  ],
  [
    'accounts/login',
    'a login with a password and a code',
    loginOf(() => ({
      firstFactor: { kind: 'Password', password: 'wrong password' },
      secondFactor: { kind: 'Totp', otpCode: '000000' },
    })),
  ],
  [
    'accounts/login',
    'a login with two factors',
    loginOf((begun) => ({ firstFactor: KEY.get(begun), secondFactor: { kind: 'Totp', otpCode: '000000' } })),
  ],
]

const test = base.extend('emails', { scope: 'file' }, async ({ sharedService }) => {
  return [...(await knownEmails(sharedService)), someEmail()]
})

describe('Nothing distinguishes a known e-mail address from an unknown one', () => {
  test.for(CALLS)('in the replies of %s: %s, and in their work', async ([, , call], { service, emails }) => {
    const observations: unknown[] = []
    for (const email of emails) {
      const hashed: string[] = []
      const hook = createHook({ init: (_, type) => type === 'SCRYPTREQUEST' && hashed.push(type) })
      service.table.reset()
      vi.mocked(verify).mockClear()
      hook.enable()
      const reply = await call(service, email)
      hook.disable()
      const verified = vi.mocked(verify).mock.calls.length
      observations.push({ shape: visibleShape(reply, email), operations: operationsOf(service), hashed, verified })
    }
    for (const one of observations) expect(one).toEqual(observations[0])
  })

  test('in the credentials that a login lists: same number, same form, same each time', async ({ service, emails }) => {
    for (const email of emails) {
      const lists = await Promise.all([1, 2].map(async () => (await beginLogin(service, email)).allowCredentials))
      expect(lists[0]).toEqual(lists[1])
      for (const kind of ['key', 'passwordProtectedKey']) {
        const ids: string[] = lists[0][kind].map(({ id }: { id: string }) => id)
        expect(new Set(ids).size).toBe(8)
        expect(ids.every((id) => /^[\w-]{43}$/.test(id))).toBe(true)
        expect(ids).toEqual(ids.toSorted())
      }
    }
  })

  test('in the replies to a new credential with one of these ids', async ({ service }) => {
    const { email: ownEmail, headers } = await createSession(service)
    const protectedKey = { kind: 'PasswordProtectedKey', encryptedPrivateKey: 'x' }
    const user = await registerUser(service, (begun) => ({
      firstFactorCredential: someKeyPair().create(begun),
      secondFactorCredential: someKeyPair().create(begun, {}, protectedKey),
    }))
    const { key, passwordProtectedKey } = (await beginLogin(service, user.email)).allowCredentials
    for (const { id } of [...key, ...passwordProtectedKey]) {
      const buildCredentials = (begun: CreationOptions) => ({
        firstFactorCredential: someKeyPair('P-256', { id }).create(begun),
      })
      const register = async (email: string) => {
        const begun = await beginRegistration(service, email)
        return await completeRegistration(service, begun, buildCredentials(begun))
      }
      expectError(await register(ownEmail), 'user_already_registered')
      expect(await register(someEmail())).toMatchObject({ status: 200 })
      const unconfirmed = await addCredential(service, headers, buildCredentials, (begun) => ({
        firstFactor: KEY.get(begun),
      }))
      expectError(unconfirmed, 'confirmation_failed')
    }
  })

  test('in any other endpoint, because none takes an e-mail address or completes one that does', () => {
    const starts = Object.entries<EndpointContract>(endpoints).filter(([, { request }]) => request.body?.shape['email'])
    const called = new Set(CALLS.map(([endpoint]) => endpoint))
    expect(starts.map(([endpoint]) => endpoint)).not.toHaveLength(0)
    for (const [start] of starts) {
      // The comparison of known and unknown users excludes the end of a registration. That endpoint must tell the
      // caller that an e-mail address is taken.
      const next = start === 'accounts/register-init' ? [] : [start.replace('-init', '')]
      for (const endpoint of [start, ...next]) expect(called).toContain(endpoint)
    }
  })
})
