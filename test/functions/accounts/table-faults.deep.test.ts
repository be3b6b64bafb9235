import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect } from 'vitest'
import * as z from 'zod'
import { endpoints } from '../../../functions/contracts.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import {
  addCredential,
  beginCredentialAddition,
  beginLogin,
  beginRecovery,
  beginRegistration,
  completeCredentialAddition,
  completeLogin,
  completeRecovery,
  completeRegistration,
  createSession,
  logInUser,
  oneTimeCode,
  openSession,
  type RegistrationOptions,
  recoverAccount,
  registerUser,
  signRecovery,
  someEmail,
} from '../../support/accounts.ts'
import { someKeyPair, somePasskey } from '../../support/credentials.ts'
import { expectError } from '../../support/errors.ts'
import type { RequestAttempt } from '../../support/memory-dynamo.ts'
import { type HttpReply, type Service, chainlessTest as test } from '../../support/service.ts'

const [WALLETS, SESSIONS] = ['/auth/wallets', '/auth/sessions']

type PreparedRequest = { readonly act: () => Promise<HttpReply>; readonly after?: () => Promise<unknown> }

async function someLink(service: Service) {
  const { headers } = await createSession(service)
  const wallet = privateKeyToAccount(generatePrivateKey())
  const body = { address: wallet.address, chain: 'evm' }
  const { message } = (await service.call('POST', `${WALLETS}/init`, { headers, body })).body
  const signature = await wallet.signMessage({ message })
  const link = () => service.call('POST', WALLETS, { headers, body: { message, signature } })
  return { headers, wallet, message, link }
}

const Counted = z.object({
  key: z.object({ pk: z.string() }),
  changes: z.tuple([z.object({ value: z.set(z.string()) })], z.unknown()),
})
const Limit = z.object({ tries: z.set(z.string()).default(new Set()) })

/** Lists the rate limits that still count an attempt. Checks only attempts since the last call of `table.reset()`. */
async function listCounted({ table, tables }: Service): Promise<string[]> {
  const counted = table.tries.flatMap(({ request, body }) => {
    if (!body.includes('"LIMIT#')) return []
    const { key, changes } = Counted.parse(request)
    return [...changes[0].value].map((tryId) => [key.pk, tryId] as const)
  })
  const limits = [...new Map(counted)].map(async ([pk, tryId]) => {
    const limit = await tables.users.get(Limit, { pk, sk: 'LIMIT' })
    return limit?.tries.has(tryId) ? [pk] : []
  })
  return (await Promise.all(limits)).flat()
}

type SessionEntry = { readonly id: string; readonly isCurrent: boolean }

async function listSessions(service: Service, headers: { authorization: string }): Promise<SessionEntry[]> {
  const { status, body } = await service.call('GET', SESSIONS, { headers })
  expect(status).toBe(200)
  return body.sessions
}

async function someSessions(service: Service) {
  const { email, keyPair, headers } = await createSession(service)
  const other = await openSession(service, email, (begun) => ({ firstFactor: keyPair.get(begun) }))
  return { headers, other }
}

/** Requests to each endpoint: the endpoint's name, a title, the expected status, and a function that prepares the request. */
const REQUESTS: [keyof typeof endpoints, string, number, (service: Service) => Promise<PreparedRequest>][] = [
  [
    'accounts/register-init',
    'the start of a registration',
    200,
    async (service) => ({
      act: () => {
        const body = { email: someEmail() }
        return service.call('POST', '/auth/register/init', { key: null, headers: { platform: 'web' }, body })
      },
    }),
  ],
  [
    'accounts/register',
    'a registration',
    200,
    async (service) => {
      const begun = await beginRegistration(service)
      const keyPair = someKeyPair()
      const credentials = {
        firstFactorCredential: keyPair.create(begun),
        secondFactorCredential: somePasskey().create(begun),
        recoveryCredential: someKeyPair().create(begun, {}, { kind: 'RecoveryKey' }),
      }
      return { act: () => completeRegistration(service, begun, credentials) }
    },
  ],
  [
    'accounts/register',
    'a registration for an address that is taken, after which its credential is free,',
    409,
    async (service) => {
      const { email } = await registerUser(service, (begun) => ({ firstFactorCredential: someKeyPair().create(begun) }))
      const begun = await beginRegistration(service, email)
      const passkey = somePasskey()
      return {
        act: () => completeRegistration(service, begun, { firstFactorCredential: passkey.create(begun) }),
        after: () => registerUser(service, (next) => ({ firstFactorCredential: passkey.create(next) })),
      }
    },
  ],
  [
    'accounts/recover-init',
    'the start of a recovery',
    200,
    async (service) => ({
      act: () => {
        const body = { email: someEmail(), credentialId: someKeyPair().id }
        return service.call('POST', '/auth/recover/init', { headers: { platform: 'web' }, body })
      },
    }),
  ],
  [
    'accounts/recover',
    'a recovery, after which its credential logs in and the old one is free,',
    200,
    async (service) => {
      const [recoveryKey, old, next] = [someKeyPair(), somePasskey(), somePasskey()]
      const { email } = await registerUser(service, (options) => ({
        firstFactorCredential: old.create(options),
        recoveryCredential: recoveryKey.create(options, {}, { kind: 'RecoveryKey' }),
      }))
      const begun = await beginRecovery(service, email)
      const newCredentials = {
        firstFactorCredential: next.create(begun),
        recoveryCredential: someKeyPair().create(begun, {}, { kind: 'RecoveryKey' }),
      }
      const recovery = signRecovery(recoveryKey, newCredentials)
      return {
        act: () => completeRecovery(service, begun, recovery, newCredentials),
        after: async () => {
          const reply = await logInUser(service, email, (challenge) => ({ firstFactor: next.get(challenge) }))
          expect(reply.status).toBe(200)
          await registerUser(service, (options) => ({ firstFactorCredential: old.create(options) }))
        },
      }
    },
  ],
  [
    'accounts/recover',
    'a recovery to a passkey that is taken, after which its user still has it,',
    409,
    async (service) => {
      const recoveryKey = someKeyPair()
      const { email } = await createSession(service, recoveryKey)
      const taken = somePasskey()
      await registerUser(service, (options) => ({ firstFactorCredential: taken.create(options) }))
      const begun = await beginRecovery(service, email)
      const newCredentials = { firstFactorCredential: taken.create(begun) }
      const recovery = signRecovery(recoveryKey, newCredentials)
      return {
        act: () => completeRecovery(service, begun, recovery, newCredentials),
        after: async () => {
          const begun = await beginRegistration(service)
          const reply = await completeRegistration(service, begun, { firstFactorCredential: taken.create(begun) })
          expectError(reply, 'credential_already_registered')
        },
      }
    },
  ],
  ['accounts/login-init', 'the start of a login', 200, async (service) => ({ act: () => beginLoginOf(service) })],
  [
    'accounts/login',
    'a login with a passkey that counts, and a code, of which no try is counted after it,',
    200,
    async (service) => {
      const passkey = somePasskey()
      const { email, begun } = await registerUser(service, (options) => ({
        firstFactorCredential: passkey.create(options),
        secondFactorCredential: {
          credentialKind: 'Totp',
          credentialInfo: { otpCode: oneTimeCode(options.otpUrl, -1) },
        },
      }))
      const started = await beginLogin(service, email)
      const secondFactor = { kind: 'Totp', otpCode: oneTimeCode(begun.otpUrl) }
      const factors = { firstFactor: passkey.get(started, { counter: 7 }), secondFactor }
      return {
        act: () => completeLogin(service, started, factors),
        after: async () => expect(await listCounted(service)).toEqual([]),
      }
    },
  ],
  [
    'accounts/login',
    'a login with a wrong password, which is counted once at the user and once at the network,',
    401,
    async (service) => {
      const started = await beginLogin(service, someEmail())
      const factors = { firstFactor: { kind: 'Password', password: 'wrong password' } }
      return {
        act: () => completeLogin(service, started, factors),
        after: async () => expect(await listCounted(service)).toHaveLength(2),
      }
    },
  ],
  [
    'accounts/logout',
    'a logout, after which the session is gone and no other,',
    204,
    async (service) => {
      const { headers, other } = await someSessions(service)
      return {
        act: () => service.call('POST', '/auth/logout', { headers }),
        after: async () => {
          expectError(await service.call('GET', SESSIONS, { headers }), 'invalid_session')
          expect(await listSessions(service, other)).toHaveLength(1)
        },
      }
    },
  ],
  [
    'accounts/sessions-end',
    'the end of one session, after which it is gone and no other,',
    204,
    async (service) => {
      const { headers, other } = await someSessions(service)
      const { id } = (await listSessions(service, other)).find(({ isCurrent }) => isCurrent) ?? {}
      return {
        act: () => service.call('DELETE', `${SESSIONS}/${id}`, { headers }),
        after: async () => {
          expectError(await service.call('GET', SESSIONS, { headers: other }), 'invalid_session')
          expect(await listSessions(service, headers)).toHaveLength(1)
        },
      }
    },
  ],
  [
    'accounts/sessions-end-others',
    'the end of all other sessions, after which they are gone and the own is not,',
    204,
    async (service) => {
      const { headers, other } = await someSessions(service)
      return {
        act: () => service.call('DELETE', SESSIONS, { headers }),
        after: async () => {
          expectError(await service.call('GET', SESSIONS, { headers: other }), 'invalid_session')
          expect(await listSessions(service, headers)).toHaveLength(1)
        },
      }
    },
  ],
  [
    'accounts/user-delete',
    'the deletion of a user, after which address and credential are free,',
    204,
    async (service) => {
      const passkey = somePasskey()
      const { email } = await registerUser(service, (options) => ({ firstFactorCredential: passkey.create(options) }))
      const headers = await openSession(service, email, (challenge) => ({ firstFactor: passkey.get(challenge) }))
      return {
        act: () => service.call('DELETE', '/auth/user', { headers }),
        after: async () => {
          expectError(await service.call('GET', SESSIONS, { headers }), 'invalid_session')
          const own = (begun: RegistrationOptions) => ({ firstFactorCredential: passkey.create(begun) })
          await registerUser(service, own, { email })
        },
      }
    },
  ],
  [
    'accounts/credentials-init',
    'the start of the addition of a credential',
    200,
    async (service) => {
      const { headers } = await createSession(service)
      return {
        act: () => service.call('POST', '/auth/credentials/init', { headers: { platform: 'web', ...headers } }),
      }
    },
  ],
  [
    'accounts/credentials-add',
    'the addition of a recovery key in the place of another, which the user can have again then,',
    201,
    async (service) => {
      const { headers, keyPair } = await createSession(service)
      const [old, recovery] = [someKeyPair(), someKeyPair()]
      const credentialOf = (key: typeof old) => (begun: RegistrationOptions) => ({
        recoveryCredential: key.create(begun, {}, { kind: 'RecoveryKey' }),
      })
      const confirmationOf = (begun: { challenge: string }) => ({ firstFactor: keyPair.get(begun) })
      await addCredential(service, headers, credentialOf(old), confirmationOf)
      const begun = await beginCredentialAddition(service, headers)
      const [credential, confirmation] = [credentialOf(recovery)(begun), confirmationOf(begun.confirmation)]
      return {
        act: () => completeCredentialAddition(service, headers, begun, credential, confirmation),
        after: async () => {
          const reply = await addCredential(service, headers, credentialOf(old), confirmationOf)
          expect(reply.status).toBe(201)
        },
      }
    },
  ],
  [
    'accounts/credentials-add',
    'an addition that is not confirmed, after which its credential is free,',
    401,
    async (service) => {
      const { headers } = await createSession(service)
      const passkey = somePasskey()
      const begun = await beginCredentialAddition(service, headers)
      const credential = { firstFactorCredential: passkey.create(begun) }
      const confirmation = { firstFactor: passkey.get(begun) }
      return {
        act: () => completeCredentialAddition(service, headers, begun, credential, confirmation),
        after: () => registerUser(service, (next) => ({ firstFactorCredential: passkey.create(next) })),
      }
    },
  ],
  [
    'accounts/credentials-remove',
    'the removal of a passkey, after which its id is free,',
    204,
    async (service) => {
      const { headers, keyPair } = await createSession(service)
      const passkey = somePasskey()
      const added = await addCredential(
        service,
        headers,
        (begun) => ({ firstFactorCredential: passkey.create(begun) }),
        (begun) => ({ firstFactor: keyPair.get(begun) }),
      )
      return {
        act: () => service.call('DELETE', `/auth/credentials/${added.body.id}`, { headers }),
        after: () => registerUser(service, (next) => ({ firstFactorCredential: passkey.create(next) })),
      }
    },
  ],
  [
    'accounts/wallets-init',
    'the start of a link to a wallet',
    200,
    async (service) => {
      const { headers } = await createSession(service)
      const { address } = privateKeyToAccount(generatePrivateKey())
      return { act: () => service.call('POST', `${WALLETS}/init`, { headers, body: { address, chain: 'evm' } }) }
    },
  ],
  ['accounts/wallets-link', 'a link to a wallet', 201, async (service) => ({ act: (await someLink(service)).link })],
  [
    'accounts/wallets-link',
    'a wrong signature of a wallet, which is counted once,',
    400,
    async (service) => {
      const { headers, message } = await someLink(service)
      return {
        act: () => service.call('POST', WALLETS, { headers, body: { message, signature: 'wrong' } }),
        after: async () => expect(await listCounted(service)).toHaveLength(1),
      }
    },
  ],
  [
    'accounts/wallets-unlink',
    'the end of a link to a wallet',
    204,
    async (service) => {
      const { headers, wallet, link } = await someLink(service)
      await link()
      return { act: () => service.call('DELETE', `${WALLETS}/${wallet.address}`, { headers }) }
    },
  ],
]

function beginLoginOf(service: Service): Promise<HttpReply> {
  return service.call('POST', '/auth/login/init', { body: { email: someEmail() } })
}

const WRITE = /^(Put|Update|Delete)Item$/

describe('A lost response of the table after a write changes nothing for', () => {
  test.for(REQUESTS)('%s: %s whichever write it is', async ([, name, status, prepare], { service }) => {
    for (let lost = 0, isOver = false; !isOver; lost += 1) {
      const { act, after } = await service.restore(name, () => prepare(service))
      service.table.reset()
      let writes = 0
      service.table.losesAnswer = ({ action }) => {
        if (!WRITE.test(action)) return false
        writes += 1
        return writes === lost + 1
      }
      const reply = await act()
      service.table.losesAnswer = undefined
      expect({ lost, status: reply.status }).toEqual({ lost, status })
      await after?.()
      expect(writes).toBeGreaterThan(0)
      isOver = writes <= lost
    }
  })

  test('any other endpoint, which either has no write or is listed above', () => {
    const writing = Object.entries<EndpointContract>(endpoints).filter(
      ([, { tag, uses }]) => tag === 'Accounts' && uses.users?.some((access) => WRITE.test(access)),
    )
    expect(new Set(REQUESTS.map(([endpoint]) => endpoint))).toEqual(new Set(writing.map(([endpoint]) => endpoint)))
  })
})

describe('A throttled table', () => {
  test.for(REQUESTS)('causes a temporary error at %s: %s whichever request is the first', async (row, { service }) => {
    const [, name, status, prepare] = row
    for (let served = 0, isOver = false; !isOver; served += 1) {
      const { act } = await service.restore(name, () => prepare(service))
      service.table.reset()
      let requests = 0
      let isWritten = false
      service.table.throttles = ({ action, body }) => {
        requests += 1
        if (requests > served) return true
        isWritten ||= WRITE.test(action) && body.includes('"USER#')
        return false
      }
      const reply = await act()
      service.table.reset()
      isOver = requests <= served
      // After a throttled table request, the usual status is right only if the change was stored or refused. Otherwise
      // the reply must be the temporary error.
      if (isOver || reply.status === status) {
        expect(reply.status).toBe(status)
        expect(isOver || isWritten || status >= 400).toBe(true)
      } else expectError(reply, 'service_unavailable')
    }
  })
})

/**
 * Requests that store a new passkey. A prepared function can be called twice. The second call begins a new request
 * with the same passkey.
 */
const NEW_PASSKEYS: [string, number, (service: Service) => Promise<() => Promise<HttpReply>>][] = [
  [
    'a registration',
    200,
    async (service) => {
      const [passkey, email] = [somePasskey(), someEmail()]
      return async () => {
        const begun = await beginRegistration(service, email)
        return await completeRegistration(service, begun, { firstFactorCredential: passkey.create(begun) })
      }
    },
  ],
  [
    'an addition',
    201,
    async (service) => {
      const { headers, keyPair } = await createSession(service)
      const passkey = somePasskey()
      const credential = (begun: RegistrationOptions) => ({ firstFactorCredential: passkey.create(begun) })
      return () => addCredential(service, headers, credential, (begun) => ({ firstFactor: keyPair.get(begun) }))
    },
  ],
  [
    'a recovery',
    200,
    async (service) => {
      const [recoveryKey, next] = [someKeyPair(), somePasskey()]
      const { email } = await createSession(service, recoveryKey)
      return () =>
        recoverAccount(service, email, recoveryKey, (begun) => ({ firstFactorCredential: next.create(begun) }))
    },
  ],
]

const isOfUser = ({ action, body }: RequestAttempt) => /^(Put|Update)Item$/.test(action) && body.includes('"USER#')
const isRelease = ({ action, body }: RequestAttempt) => action === 'DeleteItem' && body.includes('"CREDENTIAL#')

describe('The id of a new passkey is free again', () => {
  test.for(NEW_PASSKEYS)('immediately after %s whose write is throttled', async ([, status, prepare], { service }) => {
    const handOver = await prepare(service)
    service.table.throttles = isOfUser
    expectError(await handOver(), 'service_unavailable')
    service.table.reset()
    expect(await handOver()).toMatchObject({ status })
  })

  test.for(NEW_PASSKEYS)(
    'a minute after %s that was killed before its write',
    async (row, { clock, coldService: service }) => {
      const [, status, prepare] = row
      const handOver = await prepare(service)
      service.table.throttles = (tried) => isOfUser(tried) || isRelease(tried)
      expectError(await handOver(), 'service_unavailable')
      service.table.reset()
      clock.pass(50)
      expectError(await handOver(), 'credential_already_registered')
      clock.pass(20)
      expect(await handOver()).toMatchObject({ status })
    },
  )

  test('never immediately after a write with a lost response and a refused retry', async ({ service }) => {
    const [passkey, email] = [somePasskey(), someEmail()]
    const create = (begun: RegistrationOptions) => ({ firstFactorCredential: passkey.create(begun) })
    const begun = await beginRegistration(service, email)
    let tries = 0
    service.table.losesAnswer = ({ action }) => action === 'PutItem' && tries === 1
    service.table.throttles = (tried) => {
      if (isOfUser(tried)) tries += 1
      return isOfUser(tried) && tries > 1
    }
    expectError(await completeRegistration(service, begun, create(begun)), 'service_unavailable')
    service.table.reset()
    const reply = await logInUser(service, email, (challenge) => ({ firstFactor: passkey.get(challenge) }))
    expect(reply.status).toBe(200)
    const next = await beginRegistration(service)
    expectError(await completeRegistration(service, next, create(next)), 'credential_already_registered')
  })
})
