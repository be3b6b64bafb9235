import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { WebAuthnSigner } from '@dfns/sdk-browser'
import { AsymmetricKeySigner } from '@dfns/sdk-keysigner'
import type * as simplewebauthn from '@simplewebauthn/browser'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import {
  beginAddition,
  beginLogin,
  beginRecovery,
  beginRegistration,
  completeAddition,
  completeLogin,
  completeRecovery,
  completeRegistration,
  registerUser,
  signRecovery,
  someEmail,
  someSession,
} from '../../support/accounts.ts'
import { test } from '../../support/browser.ts'
import { someKeyPair } from '../../support/credentials.ts'
import { expectError } from '../../support/errors.ts'
import { signWithKit, someRecoveryKit } from '../../support/recovery-kit.ts'
import type { HttpReply, Service } from '../../support/service.ts'

declare const clients: typeof simplewebauthn & typeof import('@dfns/sdk-browser')

const WEB = 'http://localhost:3000'
const RELYING_PARTY = { id: 'localhost', name: 'Vaultline' }

type Client = {
  readonly create: (page: Page, options: object) => Promise<{ readonly credentialInfo: { readonly credId: string } }>
  readonly get: (page: Page, challenge: object) => Promise<object>
}

/** `@simplewebauthn/browser`, with its answers in the service's fields. */
const SIMPLE: Client = {
  create: (page, options) =>
    page.evaluate(async (optionsJSON) => {
      const { id, response } = await clients.startRegistration({
        // The service's options are what the library takes; extra fields are ignored.
        optionsJSON: optionsJSON as simplewebauthn.PublicKeyCredentialCreationOptionsJSON,
      })
      const { clientDataJSON: clientData, attestationObject: attestationData } = response
      return { credentialKind: 'Fido2', credentialInfo: { credId: id, clientData, attestationData } }
    }, options),
  get: (page, challenge) =>
    page.evaluate(async (received) => {
      const { challenge, rp, userVerification, allowCredentials } = received as {
        challenge: string
        rp: { id: string }
        userVerification: 'required'
        allowCredentials: { webauthn: { type: 'public-key'; id: string }[] }
      }
      const optionsJSON = { challenge, rpId: rp.id, userVerification, allowCredentials: allowCredentials.webauthn }
      const { id, response } = await clients.startAuthentication({ optionsJSON })
      const { clientDataJSON: clientData, authenticatorData, signature, userHandle } = response
      return {
        kind: 'Fido2',
        credentialAssertion: { credId: id, clientData, authenticatorData, signature, userHandle },
      }
    }, challenge),
}

/** The provider's own signer. */
const PROVIDER: Client = {
  create: (page, options) =>
    page.evaluate(
      ([relyingParty, challenge]) =>
        new clients.WebAuthnSigner({ relyingParty }).create(challenge as Parameters<WebAuthnSigner['create']>[0]),
      [RELYING_PARTY, options] as const,
    ),
  get: (page, challenge) =>
    page.evaluate(
      ([relyingParty, received]) =>
        new clients.WebAuthnSigner({ relyingParty }).sign(received as Parameters<WebAuthnSigner['sign']>[0]),
      [RELYING_PARTY, challenge] as const,
    ),
}

/** Registers a user on a page. */
async function registerOn(service: Service, page: Page, client: Client, platform: string): Promise<string> {
  const email = someEmail()
  const headers = { platform }
  const { body } = await service.call('POST', '/auth/register/init', { key: null, headers, body: { email } })
  const firstFactorCredential = await client.create(page, body.publicKeyCredentialCreationOptions)
  const { temporaryAuthenticationToken } = body
  const registered = await service.call('POST', '/auth/register', {
    body: { temporaryAuthenticationToken, firstFactorCredential },
  })
  expect(registered).toMatchObject({ status: 200, body: undefined })
  return email
}

/** Logs in on a page. */
async function loginOn(service: Service, page: Page, client: Client, email?: string): Promise<HttpReply> {
  const begun = await beginLogin(service, email)
  return await completeLogin(service, begun, { firstFactor: await client.get(page, begun) })
}

describe('In a real browser', () => {
  test.for<[string, string, string, Client]>([
    ['@simplewebauthn/browser', 'web', WEB, SIMPLE],
    ['@simplewebauthn/browser', 'ios', 'https://localhost', SIMPLE],
    ["the provider's browser SDK", 'web', WEB, PROVIDER],
    ["the provider's browser SDK", 'ios', 'https://localhost', PROVIDER],
  ])(
    '%s registers a passkey on %s (%s), and logs in with and without an e-mail address',
    async ([, platform, origin, client], { service, open }) => {
      const page = await open(origin)
      const email = await registerOn(service, page, client, platform)
      for (const named of [email, undefined, email]) {
        const reply = await loginOn(service, page, client, named)
        expect(reply).toMatchObject({ status: 200, body: { user: { email } } })
      }
    },
  )

  test.for([
    ['@simplewebauthn/browser', SIMPLE],
    ["the provider's browser SDK", PROVIDER],
  ] as const)(
    "%s and the provider's recovery kit recover an account to a new passkey, again and again",
    async ([, client], { service, open }) => {
      const email = someEmail()
      const first = await beginRegistration(service, email)
      let { kit, credential } = await someRecoveryKit(first)
      const lost = await open(WEB)
      const firstFactorCredential = await client.create(lost, first)
      const registered = await completeRegistration(service, first, {
        firstFactorCredential,
        recoveryCredential: credential,
      })
      expect(registered.status).toBe(200)

      for (let round = 0; round < 2; round += 1) {
        const page = await open(WEB)
        const begun = await beginRecovery(service, email, { credentialId: kit.id })
        const next = await someRecoveryKit(begun)
        const newCredentials = {
          firstFactorCredential: await client.create(page, begun),
          recoveryCredential: next.credential,
        }
        const encrypted = begun.allowedRecoveryCredentials[0]?.encryptedRecoveryKey ?? ''
        const recovery = await signWithKit(kit, email, encrypted, newCredentials)
        const reply = await completeRecovery(service, begun, recovery, newCredentials)
        expect(reply).toMatchObject({ status: 200, body: undefined })
        for (const named of [email, undefined]) {
          const loggedIn = await loginOn(service, page, client, named)
          expect(loggedIn).toMatchObject({ status: 200, body: { user: { email } } })
          expectError(await loginOn(service, lost, client, named), 'login_failed')
        }
        ;({ kit, credential } = next)
      }
    },
  )

  test.for<[string, Client]>([
    ['@simplewebauthn/browser', SIMPLE],
    ["the provider's browser SDK", PROVIDER],
  ])(
    "%s adds the passkey of a second device, confirmed on the first one, and never the same device's again",
    async ([, client], { service, open }) => {
      const [phone, laptop] = [await open(WEB), await open(WEB)]
      const email = await registerOn(service, phone, client, 'web')
      const { body } = await loginOn(service, phone, client, email)
      const headers = { authorization: `Bearer ${body.token}` }

      const again = await beginAddition(service, headers)
      // The browser's own words, which say no more than that there is one.
      await expect(client.create(phone, again)).rejects.toThrow(/InvalidStateError|previously registered/)

      const begun = await beginAddition(service, headers)
      const firstFactorCredential = await client.create(laptop, begun)
      const firstFactor = await client.get(phone, begun.confirmation)
      const added = await completeAddition(service, headers, begun, { firstFactorCredential }, { firstFactor })
      expect(added).toMatchObject({ status: 201, body: { kind: 'Fido2', factor: 'first' } })
      for (const page of [phone, laptop]) {
        const reply = await loginOn(service, page, client)
        expect(reply).toMatchObject({ status: 200, body: { user: { email } } })
      }
    },
  )

  test('a recovery that fails leaves the passkey of the one before on its authenticator', async ({ service, open }) => {
    const [recoveryKey, next] = [someKeyPair(), someKeyPair()]
    const { email } = await someSession(service, recoveryKey)
    const page = await open(WEB)
    const recoverOn = async () => {
      const begun = await beginRecovery(service, email)
      const newCredentials = {
        firstFactorCredential: await SIMPLE.create(page, begun),
        recoveryCredential: next.create(begun, {}, { kind: 'RecoveryKey' }),
      }
      const recovery = signRecovery(recoveryKey, newCredentials)
      const reply = await completeRecovery(service, begun, recovery, newCredentials)
      return { reply, passkey: newCredentials.firstFactorCredential }
    }
    const { reply, passkey } = await recoverOn()
    expect(reply.status).toBe(200)
    // The recovery key is used up.
    expectError((await recoverOn()).reply, 'recovery_failed')

    const begun = await beginLogin(service, email)
    const webauthn = [{ type: 'public-key', id: passkey.credentialInfo.credId }]
    const firstFactor = await SIMPLE.get(page, { ...begun, allowCredentials: { webauthn } })
    expect((await completeLogin(service, begun, { firstFactor })).status).toBe(200)
  })

  test('a page that is not ours registers nobody', async ({ service, open }) => {
    const page = await open('http://localhost:6666')
    const headers = { platform: 'web' }
    const { body } = await service.call('POST', '/auth/register/init', { headers, body: { email: someEmail() } })
    const firstFactorCredential = await SIMPLE.create(page, body.publicKeyCredentialCreationOptions)
    const { temporaryAuthenticationToken } = body
    const reply = await service.call('POST', '/auth/register', {
      body: { temporaryAuthenticationToken, firstFactorCredential },
    })
    expect(reply).toMatchObject({ status: 400, body: { details: [{ issue: 'The origin is wrong.' }] } })
  })

  test("the provider's key signer registers a key, and logs in", async ({ service, open }) => {
    const page = await open(WEB)
    const email = someEmail()
    const headers = { platform: 'web' }
    const { body } = await service.call('POST', '/auth/register/init', { headers, body: { email } })
    const firstFactorCredential = await page.evaluate(async (options) => {
      const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
      const keyPair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
      const signer = new clients.BrowserKeySigner({ keyPair })
      Object.assign(globalThis, { signer })
      return await signer.create(options)
    }, body.publicKeyCredentialCreationOptions)
    const { temporaryAuthenticationToken } = body
    const made = { temporaryAuthenticationToken, firstFactorCredential }
    expect(await service.call('POST', '/auth/register', { body: made })).toMatchObject({ status: 200 })

    const begun = await beginLogin(service, email)
    const firstFactor = await page.evaluate(
      async (challenge) =>
        // The page's own global, which another script on it has set.
        (globalThis as unknown as { signer: InstanceType<typeof clients.BrowserKeySigner> }).signer.sign(challenge),
      begun,
    )
    expect(await completeLogin(service, begun, { firstFactor })).toMatchObject({
      status: 200,
      body: { user: { email } },
    })
  })
})

describe('In plain Node', () => {
  test.for([['P-256'], ['Ed25519'], ['RSA']] as const)(
    "the provider's key signer logs in with a key of the type %s",
    async ([type], { service }) => {
      const pair = {
        'P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
        Ed25519: () => generateKeyPairSync('ed25519'),
        RSA: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
      }[type]()
      const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
      const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
      const credId = randomBytes(32).toString('base64url')
      // The signer can only log in: registration follows its documentation.
      const { email } = await registerUser(service, ({ challenge }) => {
        const clientData = Buffer.from(JSON.stringify({ type: 'key.create', challenge }))
        const clientDataHash = createHash('sha256').update(clientData).digest('hex')
        const signature = sign(undefined, Buffer.from(JSON.stringify({ clientDataHash, publicKey })), privateKey)
        const attestation = JSON.stringify({ publicKey, signature: signature.toString('hex') })
        const credentialInfo = {
          credId,
          clientData: clientData.toString('base64url'),
          attestationData: Buffer.from(attestation).toString('base64url'),
        }
        return { firstFactorCredential: { credentialKind: 'Key', credentialInfo } }
      })
      const begun = await beginLogin(service, email)
      const firstFactor = await new AsymmetricKeySigner({ credId, privateKey }).sign(begun)
      expect(await completeLogin(service, begun, { firstFactor })).toMatchObject({
        status: 200,
        body: { user: { email } },
      })
    },
  )
})
