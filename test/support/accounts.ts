import { createHmac, randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { set } from '../../lib/aws/conditions.ts'
import { sha256 } from '../../lib/core/sha256.ts'
import { type CreationOptions, type CredentialFaults, someKeyPair } from './credentials.ts'
import type { HttpReply, Service } from './service.ts'

/** Registration options that the service returns from `POST /auth/register/init`, with the user that it will create. */
export type RegistrationOptions = CreationOptions & {
  readonly temporaryAuthenticationToken: string
  readonly otpUrl: string
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string }
}

/** Returns a random e-mail address, so that no user has registered it before. */
export function someEmail(): string {
  return `alice.${randomUUID()}@example.com`
}

/** Calls `POST /auth/register/init`. Returns the options for the new user's WebAuthn credentials. */
export async function beginRegistration(
  service: Service,
  email = someEmail(),
  platform = 'web',
): Promise<RegistrationOptions> {
  const { status, body } = await service.call('POST', '/auth/register/init', {
    key: null,
    headers: { platform },
    body: { email },
  })
  expect(status).toBe(200)
  return body.publicKeyCredentialCreationOptions
}

/** Calls `POST /auth/register` with the new user's credentials and the token of the begun registration. */
export function completeRegistration(
  service: Service,
  { temporaryAuthenticationToken }: Pick<RegistrationOptions, 'temporaryAuthenticationToken'>,
  credentials: object,
  options: { key?: string } = {},
): Promise<HttpReply> {
  return service.call('POST', '/auth/register', { ...options, body: { temporaryAuthenticationToken, ...credentials } })
}

/** Registers a new user. `credentialsOf` builds the user's credentials from the registration options. */
export async function registerUser(
  service: Service,
  credentialsOf: (begun: RegistrationOptions) => object,
  { email = someEmail(), key, platform }: { email?: string; key?: string; platform?: string } = {},
): Promise<{ email: string; begun: RegistrationOptions }> {
  const begun = await beginRegistration(service, email, platform)
  const { status, body } = await completeRegistration(service, begun, credentialsOf(begun), { ...(key && { key }) })
  expect(body).toBeUndefined()
  expect(status).toBe(200)
  return { email, begun }
}

/** Options that the service returns when a user begins an account recovery, with the recovery credentials that may sign. */
export type RecoveryOptions = RegistrationOptions & {
  readonly allowedRecoveryCredentials: readonly { readonly id: string; readonly encryptedRecoveryKey: string | null }[]
}

/** Calls `POST /auth/recover/init`. Returns the options for the credentials that replace the user's lost ones. */
export async function beginRecovery(
  service: Service,
  email: string,
  { credentialId, key, platform = 'web' }: { credentialId?: string; key?: string; platform?: string } = {},
): Promise<RecoveryOptions> {
  const { status, body } = await service.call('POST', '/auth/recover/init', {
    ...(key && { key }),
    headers: { platform },
    body: { email, ...(credentialId !== undefined && { credentialId }) },
  })
  expect(status).toBe(200)
  return body.publicKeyCredentialCreationOptions
}

/** Calls `POST /auth/recover` with the new credentials and the recovery key's signature over them. */
export function completeRecovery(
  service: Service,
  { temporaryAuthenticationToken }: Pick<RegistrationOptions, 'temporaryAuthenticationToken'>,
  recovery: object,
  newCredentials: object,
  options: { key?: string } = {},
): Promise<HttpReply> {
  const body = { temporaryAuthenticationToken, recovery, newCredentials }
  return service.call('POST', '/auth/recover', { ...options, body })
}

/** Signs the JSON of new credentials with a recovery key, as an account recovery requires. */
export function signRecovery(
  recoveryKey: Pick<ReturnType<typeof someKeyPair>, 'get'>,
  newCredentials: object,
  faults: CredentialFaults = {},
) {
  const challenge = Buffer.from(JSON.stringify(newCredentials)).toString('base64url')
  return recoveryKey.get({ challenge }, faults, 'RecoveryKey')
}

/** Recovers a user's account in two requests. `credentialsOf` builds the new credentials from the recovery options. */
export async function recoverAccount(
  service: Service,
  email: string,
  recoveryKey: Parameters<typeof signRecovery>[0],
  credentialsOf: (begun: RecoveryOptions) => object,
): Promise<HttpReply> {
  const begun = await beginRecovery(service, email)
  const newCredentials = credentialsOf(begun)
  return await completeRecovery(service, begun, signRecovery(recoveryKey, newCredentials), newCredentials)
}

/** Challenge that a login must sign, and the identifier that the second login request sends back. */
export type LoginChallenge = { readonly challenge: string; readonly challengeIdentifier: string }

/** Calls `POST /auth/login/init`. Returns the login challenge. */
export async function beginLogin(service: Service, email?: string, key?: string) {
  const { status, body } = await service.call('POST', '/auth/login/init', {
    ...(key && { key }),
    body: { ...(email !== undefined && { email }) },
  })
  expect(status).toBe(200)
  return body
}

/** Calls `POST /auth/login` with the signed authentication factors. */
export function completeLogin(
  service: Service,
  { challengeIdentifier }: Pick<LoginChallenge, 'challengeIdentifier'>,
  factors: object,
  options: { key?: string } = {},
): Promise<HttpReply> {
  return service.call('POST', '/auth/login', { ...options, body: { challengeIdentifier, ...factors } })
}

/** Logs in with two requests. `factorsOf` builds the authentication factors from the login challenge. */
export async function logInUser(
  service: Service,
  email: string | undefined,
  factorsOf: (begun: LoginChallenge) => object,
): Promise<HttpReply> {
  const begun = await beginLogin(service, email)
  return await completeLogin(service, begun, factorsOf(begun))
}

/** Logs a user in. Returns the `authorization` header of the new session. */
export async function openSession(
  service: Service,
  email: string | undefined,
  factorsOf: (begun: LoginChallenge) => object,
): Promise<{ authorization: string }> {
  const { status, body } = await logInUser(service, email, factorsOf)
  expect(status).toBe(200)
  return { authorization: `Bearer ${body.token}` }
}

/**
 * Options for an additional credential. The user's existing credential signs `confirmation.challenge` to allow the addition.
 */
export type CredentialAdditionOptions = RegistrationOptions & { readonly confirmation: { readonly challenge: string } }

/** Calls `POST /auth/credentials/init`. Returns the options for one more credential of a logged-in user. */
export async function beginCredentialAddition(
  service: Service,
  session: { authorization: string },
  platform = 'web',
): Promise<CredentialAdditionOptions> {
  const headers = { platform, ...session }
  const { status, body } = await service.call('POST', '/auth/credentials/init', { headers })
  expect(status).toBe(200)
  return { ...body.publicKeyCredentialCreationOptions, confirmation: body.confirmation }
}

/** Calls `POST /auth/credentials` with the new credential. `confirmation` is the signature of an existing credential. */
export function completeCredentialAddition(
  service: Service,
  headers: { authorization: string },
  { temporaryAuthenticationToken }: Pick<CredentialAdditionOptions, 'temporaryAuthenticationToken'>,
  credentials: object,
  confirmation: object,
): Promise<HttpReply> {
  const body = { temporaryAuthenticationToken, ...credentials, confirmation }
  return service.call('POST', '/auth/credentials', { headers, body })
}

/**
 * Adds a credential to a logged-in user. `credentialsOf` builds the credential; `confirmationOf` signs the confirmation
 * challenge.
 */
export async function addCredential(
  service: Service,
  headers: { authorization: string },
  credentialsOf: (begun: CredentialAdditionOptions) => object,
  confirmationOf: (begun: { challenge: string }) => object,
): Promise<HttpReply> {
  const begun = await beginCredentialAddition(service, headers)
  return await completeCredentialAddition(
    service,
    headers,
    begun,
    credentialsOf(begun),
    confirmationOf(begun.confirmation),
  )
}

/** Registers a new user with a key pair and logs the user in. A `recoveryKey`, if present, becomes the recovery credential. */
export async function createSession(service: Service, recoveryKey?: ReturnType<typeof someKeyPair>) {
  const keyPair = someKeyPair()
  const { email, begun } = await registerUser(service, (options) => ({
    firstFactorCredential: keyPair.create(options),
    ...(recoveryKey && { recoveryCredential: recoveryKey.create(options, {}, { kind: 'RecoveryKey' }) }),
  }))
  const headers = await openSession(service, email, (challenge) => ({ firstFactor: keyPair.get(challenge) }))
  const token = headers.authorization.replace('Bearer ', '')
  return { email, userId: begun.user.id, token, headers, keyPair }
}

/** Makes a session's login appear `minutes` older: moves the session's stored creation time into the past. */
export async function ageSession(service: Service, { token }: { readonly token: string }, minutes: number) {
  const createdAt = new Date(Date.now() - minutes * 60_000).toISOString()
  await service.tables.users.write({ pk: `SESSION#${sha256(token)}`, sk: 'SESSION' }, [set('createdAt', createdAt)])
}

const STEP_MS = 30_000

/**
 * Returns the one-time code (TOTP) of an `otpauth` URL. `steps` is the number of 30-second steps from now. Waits for the next
 * step if the current one ends within 2 seconds, because the service verifies the code later.
 */
export function oneTimeCode(otpUrl: string, steps = 0): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...(new URL(otpUrl).searchParams.get('secret') ?? '')]
    .map((character) => alphabet.indexOf(character).toString(2).padStart(5, '0'))
    .join('')
  const secret = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const left = STEP_MS - (Date.now() % STEP_MS)
  if (left < 2_000) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, left)
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / STEP_MS) + steps))
  const hash = createHmac('sha1', secret).update(counter).digest()
  const number = hash.readUInt32BE((hash.at(-1) ?? 0) & 15) & 0x7fffffff
  return (number % 1_000_000).toString().padStart(6, '0')
}
