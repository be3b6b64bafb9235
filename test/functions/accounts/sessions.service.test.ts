import { describe, expect } from 'vitest'
import { sha256 } from '../../../lib/core/sha256.ts'
import { ageSession, beginLogin, completeLogin, logInUser, registerUser, someEmail } from '../../support/accounts.ts'
import { someKeyPair, somePasskey } from '../../support/credentials.ts'
import { expectError } from '../../support/errors.ts'
import { type Service, test } from '../../support/service.ts'

const SESSIONS = '/auth/sessions'

async function someUser(service: Service) {
  const keyPair = someKeyPair()
  const { email, begun } = await registerUser(service, (options) => ({
    firstFactorCredential: keyPair.create(options),
  }))
  const logIn = async (platform?: string) => {
    const started = await beginLogin(service, email)
    const { status, body } = await service.call('POST', '/auth/login', {
      ...(platform && { headers: { platform } }),
      body: { challengeIdentifier: started.challengeIdentifier, firstFactor: keyPair.get(started) },
    })
    expect(status).toBe(200)
    return { token: body.token as string, headers: { authorization: `Bearer ${body.token}` } }
  }
  return { email, userId: begun.user.id, keyPair, logIn }
}

type LoggedIn = { readonly headers: { readonly authorization: string } }

async function listSessions(service: Service, { headers }: LoggedIn) {
  const { status, body } = await service.call('GET', SESSIONS, { headers })
  expect(status).toBe(200)
  return body.sessions as { id: string; platform: string | null; isCurrent: boolean; createdAt: string }[]
}

async function isOpen(service: Service, { headers }: LoggedIn): Promise<boolean> {
  return (await service.call('GET', '/auth/wallets', { headers })).status === 200
}

describe('The sessions of a user', () => {
  test('are listed with their time and device, without any secret', async ({ service }) => {
    const user = await someUser(service)
    const phone = await user.logIn('ios')
    const page = await user.logIn()
    const sessions = await listSessions(service, page)
    expect(sessions).toEqual(
      [
        { platform: null, isCurrent: true },
        { platform: 'ios', isCurrent: false },
      ].map((own) => ({
        ...own,
        id: expect.stringMatching(/^[\w-]{22}$/),
        createdAt: expect.stringMatching(/Z$/),
        expiresAt: expect.stringMatching(/Z$/),
      })),
    )
    const text = JSON.stringify(sessions)
    for (const { token } of [phone, page]) {
      expect(text).not.toContain(token)
      expect(text).not.toContain(sha256(token))
    }
  })

  test('end one by one, or all except the current one', async ({ service }) => {
    const user = await someUser(service)
    const [first, second, third] = [await user.logIn(), await user.logIn(), await user.logIn()]
    const [, { id = '' } = {}] = await listSessions(service, third)
    expect((await service.call('DELETE', `${SESSIONS}/${id}`, { headers: third.headers })).status).toBe(204)
    expect(await Promise.all([first, second, third].map((session) => isOpen(service, session)))).toEqual([
      true,
      false,
      true,
    ])
    expectError(await service.call('DELETE', `${SESSIONS}/${id}`, { headers: third.headers }), 'session_not_found')
    expect((await service.call('DELETE', SESSIONS, { headers: first.headers })).status).toBe(204)
    expect(await listSessions(service, first)).toMatchObject([{ isCurrent: true }])
    expect(await isOpen(service, third)).toBe(false)
  })

  test('end only themselves from ten minutes after their login', async ({ service }) => {
    const user = await someUser(service)
    const [old, other] = [await user.logIn(), await user.logIn()]
    await ageSession(service, old, 11)
    const listed = await listSessions(service, old)
    const idOf = (isCurrent: boolean) => listed.find((session) => session.isCurrent === isCurrent)?.id
    const end = (path: string) => service.call('DELETE', path, { headers: old.headers })
    expectError(await end(SESSIONS), 'fresh_login_required')
    expectError(await end(`${SESSIONS}/${idOf(false)}`), 'fresh_login_required')
    expect(await isOpen(service, other)).toBe(true)
    expect((await end(`${SESSIONS}/${idOf(true)}`)).status).toBe(204)
    expect(await isOpen(service, old)).toBe(false)
  })

  test('of others are not found', async ({ service }) => {
    const [alice, bob] = [await someUser(service), await someUser(service)]
    const [hers, his] = [await alice.logIn(), await bob.logIn()]
    const [{ id = '' } = {}] = await listSessions(service, hers)
    for (const other of [id, 'constructor', 'x'.repeat(200)]) {
      const reply = await service.call('DELETE', `${SESSIONS}/${other}`, { headers: his.headers })
      expectError(reply, 'session_not_found', other.length > 100 ? ['id'] : undefined)
    }
    expect(await isOpen(service, hers)).toBe(true)
  })

  test('are no longer listed after a logout', async ({ service }) => {
    const user = await someUser(service)
    const [first, second] = [await user.logIn(), await user.logIn()]
    expect((await service.call('POST', '/auth/logout', { headers: first.headers })).status).toBe(204)
    expect(await listSessions(service, second)).toHaveLength(1)
  })

  test('are twenty at most: the oldest ends', async ({ service }) => {
    const user = await someUser(service)
    const oldest = await user.logIn()
    for (let more = 0; more < 19; more += 1) await user.logIn()
    expect(await listSessions(service, oldest)).toHaveLength(20)
    const newest = await user.logIn()
    expect(await listSessions(service, newest)).toHaveLength(20)
    expect(await isOpen(service, oldest)).toBe(false)
  })

  test('are all listed, also those of parallel logins', async ({ service }) => {
    const user = await someUser(service)
    const sessions = await Promise.all([user.logIn(), user.logIn(), user.logIn()])
    const [session = sessions[0]] = sessions
    expect(await listSessions(service, session)).toHaveLength(3)
  })

  test('also end for a login that comes while all others are ended', async ({ service }) => {
    const user = await someUser(service)
    const own = await user.logIn()
    const [ended, other] = await Promise.all([service.call('DELETE', SESSIONS, { headers: own.headers }), user.logIn()])
    expect(ended.status).toBe(204)
    // The parallel login either came first, and its session was ended, or came later, and its session is listed.
    expect(await listSessions(service, own)).toHaveLength((await isOpen(service, other)) ? 2 : 1)
  })
})

describe('A user who deletes the account', () => {
  test('is deleted completely, and can register again with the same passkey', async ({ service }) => {
    const passkey = somePasskey()
    const email = someEmail()
    await registerUser(service, (begun) => ({ firstFactorCredential: passkey.create(begun) }), { email })
    const factors = (begun: Parameters<typeof passkey.get>[0]) => ({ firstFactor: passkey.get(begun) })
    const [first, second] = [await logInUser(service, email, factors), await logInUser(service, email, factors)]
    const headersOf = ({ body }: typeof first) => ({ headers: { authorization: `Bearer ${body.token}` } })
    expect((await service.call('DELETE', '/auth/user', headersOf(first))).status).toBe(204)
    for (const session of [first, second]) {
      expectError(await service.call('GET', SESSIONS, headersOf(session)), 'invalid_session')
    }
    expectError(await logInUser(service, email, factors), 'login_failed')
    await registerUser(service, (begun) => ({ firstFactorCredential: passkey.create(begun) }), { email })
    expect((await logInUser(service, email, factors)).status).toBe(200)
  })

  test('must have logged in within ten minutes', async ({ service }) => {
    const user = await someUser(service)
    const session = await user.logIn()
    await ageSession(service, session, 11)
    const { headers } = session
    expectError(await service.call('DELETE', '/auth/user', { headers }), 'fresh_login_required')
    expect(await isOpen(service, session)).toBe(true)
  })

  test('is deleted by two parallel requests even during a login', async ({ service }) => {
    const user = await someUser(service)
    const [first, second] = [await user.logIn(), await user.logIn()]
    const started = await beginLogin(service, user.email)
    const [one, other, late] = await Promise.all([
      service.call('DELETE', '/auth/user', { headers: first.headers }),
      service.call('DELETE', '/auth/user', { headers: second.headers }),
      completeLogin(service, started, { firstFactor: user.keyPair.get(started) }),
    ])
    expect([204, 401]).toContain(one.status)
    expect([204, 401]).toContain(other.status)
    expect([one.status, other.status]).toContain(204)
    if (late.status === 200) {
      const { status } = await service.call('GET', SESSIONS, {
        headers: { authorization: `Bearer ${late.body.token}` },
      })
      expect(status).toBe(401)
    }
    expectError(
      await logInUser(service, user.email, (begun) => ({ firstFactor: user.keyPair.get(begun) })),
      'login_failed',
    )
  })
})
