import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect } from 'vitest'
import {
  addCredential,
  type Begun,
  beginAddition,
  beginLogin,
  beginRecovery,
  beginRegistration,
  completeAddition,
  completeLogin,
  completeRecovery,
  completeRegistration,
  login,
  oneTimeCode,
  registerUser,
  signRecovery,
  someEmail,
  someSession,
} from '../../support/accounts.ts'
import { someKeyPair, somePasskey } from '../../support/credentials.ts'
import { type HttpReply, type Service, chainlessTest as test } from '../../support/service.ts'

const WALLETS = '/auth/wallets'

/** A request that is ready to be made, and what must still work after it. */
type Act = { readonly act: () => Promise<HttpReply>; readonly after?: () => Promise<unknown> }

/** A message for a new wallet of a new user, and the request that links it. */
async function someLink(service: Service) {
  const { headers } = await someSession(service)
  const wallet = privateKeyToAccount(generatePrivateKey())
  const body = { address: wallet.address, chain: 'evm' }
  const { message } = (await service.call('POST', `${WALLETS}/init`, { headers, body })).body
  const signature = await wallet.signMessage({ message })
  const link = () => service.call('POST', WALLETS, { headers, body: { message, signature } })
  return { headers, wallet, link }
}

const REQUESTS: [string, number, (service: Service) => Promise<Act>][] = [
  [
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
    'a registration for an address that is taken, after which its credential is free,',
    409,
    async (service) => {
      const { email } = await registerUser(service, (begun) => ({ firstFactorCredential: someKeyPair().create(begun) }))
      const begun = await beginRegistration(service, email)
      const keyPair = someKeyPair()
      return {
        act: () => completeRegistration(service, begun, { firstFactorCredential: keyPair.create(begun) }),
        after: () => registerUser(service, (next) => ({ firstFactorCredential: keyPair.create(next) })),
      }
    },
  ],
  [
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
    'a recovery, after which its credential logs in and the old one is free,',
    200,
    async (service) => {
      const [recoveryKey, next] = [someKeyPair(), someKeyPair()]
      const { email, keyPair } = await someSession(service, recoveryKey)
      const begun = await beginRecovery(service, email)
      const newCredentials = {
        firstFactorCredential: next.create(begun),
        recoveryCredential: someKeyPair().create(begun, {}, { kind: 'RecoveryKey' }),
      }
      const recovery = signRecovery(recoveryKey, newCredentials)
      return {
        act: () => completeRecovery(service, begun, recovery, newCredentials),
        after: async () => {
          const reply = await login(service, email, (challenge) => ({ firstFactor: next.get(challenge) }))
          expect(reply.status).toBe(200)
          await registerUser(service, (given) => ({ firstFactorCredential: keyPair.create(given) }))
        },
      }
    },
  ],
  [
    'a recovery to a credential that is taken, after which the other one is free,',
    409,
    async (service) => {
      const [recoveryKey, next] = [someKeyPair(), someKeyPair()]
      const { email, keyPair } = await someSession(service, recoveryKey)
      const begun = await beginRecovery(service, email)
      const newCredentials = {
        firstFactorCredential: next.create(begun),
        secondFactorCredential: keyPair.create(begun),
      }
      const recovery = signRecovery(recoveryKey, newCredentials)
      return {
        act: () => completeRecovery(service, begun, recovery, newCredentials),
        after: () => registerUser(service, (given) => ({ firstFactorCredential: next.create(given) })),
      }
    },
  ],
  ['the start of a login', 200, async (service) => ({ act: () => beginLoginOf(service) })],
  [
    'a login with a passkey that counts, and a code,',
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
      return { act: () => completeLogin(service, started, factors) }
    },
  ],
  [
    'a logout',
    204,
    async (service) => {
      const { headers } = await someSession(service)
      return { act: () => service.call('POST', '/auth/logout', { headers }) }
    },
  ],
  [
    'the start of the addition of a credential',
    200,
    async (service) => {
      const { headers } = await someSession(service)
      return {
        act: () => service.call('POST', '/auth/credentials/init', { headers: { platform: 'web', ...headers } }),
      }
    },
  ],
  [
    'the addition of a recovery key in the place of another, whose id is free then,',
    201,
    async (service) => {
      const { headers, keyPair } = await someSession(service)
      const [old, recovery] = [someKeyPair(), someKeyPair()]
      const credentialOf = (key: typeof old) => (begun: Begun) => ({
        recoveryCredential: key.create(begun, {}, { kind: 'RecoveryKey' }),
      })
      const confirmationOf = (begun: { challenge: string }) => ({ firstFactor: keyPair.get(begun) })
      await addCredential(service, headers, credentialOf(old), confirmationOf)
      const begun = await beginAddition(service, headers)
      const [credential, confirmation] = [credentialOf(recovery)(begun), confirmationOf(begun.confirmation)]
      return {
        act: () => completeAddition(service, headers, begun, credential, confirmation),
        after: () => registerUser(service, (next) => ({ firstFactorCredential: old.create(next) })),
      }
    },
  ],
  [
    'an addition that is not confirmed, after which its credential is free,',
    401,
    async (service) => {
      const { headers } = await someSession(service)
      const made = someKeyPair()
      const begun = await beginAddition(service, headers)
      const credential = { firstFactorCredential: made.create(begun) }
      const confirmation = { firstFactor: made.get(begun) }
      return {
        act: () => completeAddition(service, headers, begun, credential, confirmation),
        after: () => registerUser(service, (next) => ({ firstFactorCredential: made.create(next) })),
      }
    },
  ],
  [
    'the removal of a key, after which its id is free,',
    204,
    async (service) => {
      const { headers, keyPair } = await someSession(service)
      const made = someKeyPair()
      const added = await addCredential(
        service,
        headers,
        (begun) => ({ firstFactorCredential: made.create(begun) }),
        (begun) => ({ firstFactor: keyPair.get(begun) }),
      )
      return {
        act: () => service.call('DELETE', `/auth/credentials/${added.body.id}`, { headers }),
        after: () => registerUser(service, (next) => ({ firstFactorCredential: made.create(next) })),
      }
    },
  ],
  [
    'the start of a link to a wallet',
    200,
    async (service) => {
      const { headers } = await someSession(service)
      const { address } = privateKeyToAccount(generatePrivateKey())
      return { act: () => service.call('POST', `${WALLETS}/init`, { headers, body: { address, chain: 'evm' } }) }
    },
  ],
  ['a link to a wallet', 201, async (service) => ({ act: (await someLink(service)).link })],
  [
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

describe('An answer of the table that is lost after the write changes nothing for', () => {
  test.for(REQUESTS)('%s whichever write it is', async ([, status, prepare], { service }) => {
    for (let lost = 0, isOver = false; !isOver; lost += 1) {
      const { act, after } = await prepare(service)
      let writes = 0
      service.table.losesAnswer = (action) => {
        if (!/^(Put|Update|Delete)Item$/.test(action)) return false
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
})
