import { describe, expect } from 'vitest'
import type { ErrorCode } from '../../../lib/core/errors.ts'
import {
  beginCredentialAddition,
  beginLogin,
  beginRecovery,
  beginRegistration,
  completeCredentialAddition,
  completeLogin,
  completeRecovery,
  completeRegistration,
  logInUser,
  openSession,
  registerUser,
  signRecovery,
} from '../../support/accounts.ts'
import { someKeyPair, somePasskey } from '../../support/credentials.ts'
import { expectError } from '../../support/errors.ts'
import { connectFunctions } from '../../support/functions-database.ts'
import { chainlessTest as base, type HttpReply, type Service, startNewContainers } from '../../support/service.ts'

type Passkey = ReturnType<typeof somePasskey>

async function someAccount(service: Service) {
  const [first, second, recoveryKey] = [somePasskey(), somePasskey(), someKeyPair()]
  const { email, begun: registration } = await registerUser(service, (begun) => ({
    firstFactorCredential: first.create(begun),
    recoveryCredential: recoveryKey.create(begun, {}, { kind: 'RecoveryKey' }),
  }))
  const factorsOf = (begun: { challenge: string }) => ({ firstFactor: first.get(begun) })
  const headers = await openSession(service, email, factorsOf)
  const other = await openSession(service, email, factorsOf)
  const begun = await beginCredentialAddition(service, headers)
  const credential = { firstFactorCredential: second.create(begun) }
  const added = await completeCredentialAddition(service, headers, begun, credential, factorsOf(begun.confirmation))
  expect(added.status).toBe(201)
  const { body } = await service.call('GET', '/auth/credentials', { headers })
  return {
    email,
    first,
    second,
    recoveryKey,
    factorsOf,
    headers,
    other,
    user: registration.user,
    firstId: String(body.credentials[0].id),
  }
}
type Account = Awaited<ReturnType<typeof someAccount>>

/** A prepared change of an account. `ask` sends it. `opens` lists the passkeys that can log in afterwards. */
type Prepared = { readonly ask: () => Promise<HttpReply>; readonly opens: (passkeys: Passkey[]) => Passkey[] }

const CHANGES = {
  'a recovery': async (service, { email, recoveryKey }) => {
    const passkey = somePasskey()
    const begun = await beginRecovery(service, email)
    const newCredentials = { firstFactorCredential: passkey.create(begun) }
    const recovery = signRecovery(recoveryKey, newCredentials)
    return { ask: () => completeRecovery(service, begun, recovery, newCredentials), opens: () => [passkey] }
  },
  'an addition': async (service, { headers, factorsOf }) => {
    const passkey = somePasskey()
    const begun = await beginCredentialAddition(service, headers)
    const credential = { firstFactorCredential: passkey.create(begun) }
    const confirmation = factorsOf(begun.confirmation)
    return {
      ask: () => completeCredentialAddition(service, headers, begun, credential, confirmation),
      opens: (passkeys) => [...passkeys, passkey],
    }
  },
  'a removal of the passkey': async (service, { headers, first, firstId }) => ({
    ask: () => service.call('DELETE', `/auth/credentials/${firstId}`, { headers }),
    opens: (passkeys) => passkeys.filter((passkey) => passkey !== first),
  }),
  'a login with the passkey': async (service, { email, factorsOf }) => {
    const begun = await beginLogin(service, email)
    return { ask: () => completeLogin(service, begun, factorsOf(begun)), opens: (passkeys) => passkeys }
  },
  'the end of the session': async (service, { other }) => ({
    ask: () => service.call('DELETE', '/auth/sessions', { headers: other }),
    opens: (passkeys) => passkeys,
  }),
  'a deletion': async (service, { headers }) => ({
    ask: () => service.call('DELETE', '/auth/user', { headers }),
    opens: () => [],
  }),
} satisfies Record<string, (service: Service, account: Account) => Promise<Prepared>>
type Change = keyof typeof CHANGES

/**
 * Error codes when one change overtakes another. The outer key is the delayed change, the inner key the change that
 * overtakes it. Pairs that are not listed succeed.
 */
const REFUSED: Record<Change, Partial<Record<Change, ErrorCode>>> = {
  'a recovery': { 'a recovery': 'recovery_failed', 'a deletion': 'recovery_failed' },
  'an addition': {
    'a recovery': 'invalid_session',
    'a removal of the passkey': 'confirmation_failed',
    'the end of the session': 'invalid_session',
    'a deletion': 'invalid_session',
  },
  'a removal of the passkey': {
    'a recovery': 'invalid_session',
    'a removal of the passkey': 'credential_not_found',
    'the end of the session': 'invalid_session',
    'a deletion': 'invalid_session',
  },
  'a login with the passkey': {
    'a recovery': 'login_failed',
    'a removal of the passkey': 'login_failed',
    'a deletion': 'login_failed',
  },
  'the end of the session': { 'a recovery': 'invalid_session', 'a deletion': 'invalid_session' },
  // A second deletion that finds no user succeeds like the first, because the client may be repeating a lost request.
  'a deletion': { 'a recovery': 'invalid_session', 'the end of the session': 'invalid_session' },
}

const ALL = Object.keys(CHANGES) as Change[]
const PAIRS = ALL.flatMap((late) => ALL.map((between) => [late, between] as const))

const test = base
  .extend('account', async ({ service }) => {
    const account = await service.restore('account', () => someAccount(service))
    // Each test creates the passkeys again, because another test may have replaced their keys on the simulated
    // authenticator.
    for (const passkey of [account.first, account.second]) passkey.create({ challenge: '', user: account.user })
    return account
  })
  .extend('slow', { scope: 'file' }, async ({ sharedService }, { onCleanup }): Promise<Service> => {
    const { table: shared } = sharedService
    const table = Object.assign(shared.connectAgain(), { direct: shared.direct, connectAgain: shared.connectAgain })
    connectFunctions(() => table.dynamo)
    const { service, stop } = await startNewContainers(sharedService, { isWhole: true })
    connectFunctions(() => globalThis.functionsDatabase)
    onCleanup(stop)
    return { ...service, table }
  })

/** Sends a change. Runs `between` before the change's first table request that matches `delayed`. */
async function changeLate({ table }: Service, delayed: RegExp, { ask }: Prepared, between: () => Promise<void>) {
  let passing: Promise<void> | undefined
  table.hold = ({ action, body }) => {
    if (!delayed.test(`${action} ${body}`)) return undefined
    passing ??= between()
    return passing
  }
  const reply = await ask()
  table.hold = undefined
  expect(passing).toBeDefined()
  return reply
}

async function expectOpenedBy(service: Service, { email }: Account, passkeys: Passkey[], all: Passkey[]) {
  for (const passkey of new Set(all)) {
    const { status } = await logInUser(service, email, (begun) => ({ firstFactor: passkey.get(begun) }))
    expect(status).toBe(passkeys.includes(passkey) ? 200 : 401)
    const begun = await beginRegistration(service)
    const registered = await completeRegistration(service, begun, { firstFactorCredential: passkey.create(begun) })
    expect(registered.status).toBe(passkeys.includes(passkey) ? 409 : 200)
  }
}

describe('Of two parallel changes of one account', () => {
  const WRITE = /^(Update|Delete)Item .*"(USER|SESSION)#/
  test.for(PAIRS)('%s that has read the user follows %s', async ([late, between], { service, account, slow }) => {
    const [after, before] = [await CHANGES[late](slow, account), await CHANGES[between](service, account)]
    const reply = await changeLate(slow, WRITE, after, async () => {
      expect((await before.ask()).status).toBeLessThan(300)
    })
    const refusal = REFUSED[late][between]
    if (refusal) expectError(reply, refusal)
    else expect(reply.status).toBeLessThan(300)

    const passkeys = before.opens([account.first, account.second])
    const all = [account.first, account.second, ...before.opens([]), ...after.opens([])]
    await expectOpenedBy(service, account, refusal ? passkeys : after.opens(passkeys), all)
  })

  const ENDING = (['a recovery', 'the end of the session', 'a deletion'] as const).flatMap((late) =>
    ALL.map((between) => [late, between] as const),
  )
  const LAST_WRITE = /^(Update|Delete)Item .*"USER#/
  test.for(ENDING)(
    '%s that has ended sessions ends in the state of it or of %s',
    async ([late, between], { service, account, slow }) => {
      const [after, before] = [await CHANGES[late](slow, account), await CHANGES[between](service, account)]
      let earlierReply: HttpReply | undefined
      const reply = await changeLate(slow, LAST_WRITE, after, async () => {
        earlierReply = await before.ask()
      })
      let passkeys = [account.first, account.second]
      const all = [...passkeys, ...before.opens([]), ...after.opens([])]
      const succeeded = [earlierReply, reply].map((one) => (one?.status ?? 500) < 300)
      expect(succeeded).toContain(true)
      if (succeeded[0]) passkeys = before.opens(passkeys)
      if (succeeded[1]) passkeys = after.opens(passkeys)
      await expectOpenedBy(service, account, passkeys, all)
    },
  )
})

describe('A session holder cannot block', () => {
  const USER_WRITE = /^UpdateItem .*"USER#/
  test.for(['a login with the passkey', 'an addition', 'a removal of the passkey'] as const)(
    '%s by requests to end sessions before each of its writes',
    async (change, { service, account, slow }) => {
      const end = () => service.call('DELETE', '/auth/sessions', { headers: account.headers })
      expect((await end()).status).toBe(204)
      const { ask } = await CHANGES[change](slow, account)
      slow.table.hold = async ({ action, body }) => {
        if (USER_WRITE.test(`${action} ${body}`)) await end()
      }
      const { status } = await ask()
      slow.table.hold = undefined
      expect(status).toBeLessThan(300)
    },
  )

  test('a login by ending a session during the comparison of its password, which runs once', async ({
    service,
    slow,
  }) => {
    const [password, second] = ['correct horse battery staple', someKeyPair()]
    const { email } = await registerUser(service, (begun) => ({
      firstFactorCredential: { credentialKind: 'Password', credentialInfo: { password } },
      secondFactorCredential: second.create(begun),
    }))
    const factorsOf = (begun: { challenge: string }) => ({
      firstFactor: { kind: 'Password', password },
      secondFactor: second.get(begun),
    })
    const headers = await openSession(service, email, factorsOf)
    await openSession(service, email, factorsOf)
    const begun = await beginLogin(service, email)
    slow.table.reset()
    const ask = () => completeLogin(slow, begun, factorsOf(begun))
    const reply = await changeLate(slow, USER_WRITE, { ask, opens: (passkeys) => passkeys }, async () => {
      expect((await service.call('DELETE', '/auth/sessions', { headers })).status).toBe(204)
    })
    expect(reply.status).toBe(200)
    // The attempt is counted for the user and for the network before the password is compared. A slow comparison
    // cannot allow more attempts.
    expect(
      slow.table.tries.map(({ body }) => body).filter((body) => /"do":"add","path":"tries"/.test(body)),
    ).toHaveLength(2)
  })
})
