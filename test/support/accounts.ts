import { createHmac, randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { set } from '../../lib/aws/conditions.ts'
import { sha256 } from '../../lib/core/sha256.ts'
import { type CreationOptions, type Faults, someKeyPair } from './credentials.ts'
import type { HttpReply, Service } from './service.ts'

/** Response of the service to the beginning of a registration. */
export type RegistrationOptions = CreationOptions & {
  readonly temporaryAuthenticationToken: string
  readonly otpUrl: string
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string }
}

/** Returns an e-mail address that no user has. */
export function someEmail(): string {
  return `alice.${randomUUID()}@example.com`
}

/** Begins a registration and returns its options. */
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

/** Completes a registration with these credentials. */
export function completeRegistration(
  service: Service,
  { temporaryAuthenticationToken }: Pick<RegistrationOptions, 'temporaryAuthenticationToken'>,
  credentials: object,
  options: { key?: string } = {},
): Promise<HttpReply> {
  return service.call('POST', '/auth/register', { ...options, body: { temporaryAuthenticationToken, ...credentials } })
}

/** Registers a new user with the credentials that `credentialsOf` builds from the registration's options. */
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

/** Response of the service to the beginning of a recovery. */
export type RecoveryOptions = RegistrationOptions & {
  readonly allowedRecoveryCredentials: readonly { readonly id: string; readonly encryptedRecoveryKey: string | null }[]
}

/** Begins a recovery and returns the response: options for the new credentials. */
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

/** Completes a recovery with the recovery key's signature over the new credentials. */
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

/** Signs new credentials with a recovery key. */
export function signRecovery(
  recoveryKey: Pick<ReturnType<typeof someKeyPair>, 'get'>,
  newCredentials: object,
  faults: Faults = {},
) {
  const challenge = Buffer.from(JSON.stringify(newCredentials)).toString('base64url')
  return recoveryKey.get({ challenge }, faults, 'RecoveryKey')
}

/** Recovers a user's account with the new credentials that `credentialsOf` builds from the recovery's options. */
export async function recover(
  service: Service,
  email: string,
  recoveryKey: Parameters<typeof signRecovery>[0],
  credentialsOf: (begun: RecoveryOptions) => object,
): Promise<HttpReply> {
  const begun = await beginRecovery(service, email)
  const newCredentials = credentialsOf(begun)
  return await completeRecovery(service, begun, signRecovery(recoveryKey, newCredentials), newCredentials)
}

/** Challenge of a login that has begun, and its identifier. */
export type LoginChallenge = { readonly challenge: string; readonly challengeIdentifier: string }

/** Begins a login and returns its challenge. */
export async function beginLogin(service: Service, email?: string, key?: string) {
  const { status, body } = await service.call('POST', '/auth/login/init', {
    ...(key && { key }),
    body: { ...(email !== undefined && { email }) },
  })
  expect(status).toBe(200)
  return body
}

/** Completes a login with these authentication factors. */
export function completeLogin(
  service: Service,
  { challengeIdentifier }: Pick<LoginChallenge, 'challengeIdentifier'>,
  factors: object,
  options: { key?: string } = {},
): Promise<HttpReply> {
  return service.call('POST', '/auth/login', { ...options, body: { challengeIdentifier, ...factors } })
}

/** Logs in with the authentication factors that `factorsOf` builds from the login's challenge. */
export async function login(
  service: Service,
  email: string | undefined,
  factorsOf: (begun: LoginChallenge) => object,
): Promise<HttpReply> {
  const begun = await beginLogin(service, email)
  return await completeLogin(service, begun, factorsOf(begun))
}

/** Logs a user in and returns the request headers that carry the new session. */
export async function openSession(
  service: Service,
  email: string | undefined,
  factorsOf: (begun: LoginChallenge) => object,
): Promise<{ authorization: string }> {
  const { status, body } = await login(service, email, factorsOf)
  expect(status).toBe(200)
  return { authorization: `Bearer ${body.token}` }
}

/** Options for a credential to add, and the challenge that the user's existing credentials sign to confirm it. */
export type AdditionOptions = RegistrationOptions & { readonly confirmation: { readonly challenge: string } }

/** Begins to add a credential to the user of a session. */
export async function beginAddition(
  service: Service,
  session: { authorization: string },
  platform = 'web',
): Promise<AdditionOptions> {
  const headers = { platform, ...session }
  const { status, body } = await service.call('POST', '/auth/credentials/init', { headers })
  expect(status).toBe(200)
  return { ...body.publicKeyCredentialCreationOptions, confirmation: body.confirmation }
}

/** Completes the addition of a credential, which these authentication factors confirm. */
export function completeAddition(
  service: Service,
  headers: { authorization: string },
  { temporaryAuthenticationToken }: Pick<AdditionOptions, 'temporaryAuthenticationToken'>,
  credentials: object,
  confirmation: object,
): Promise<HttpReply> {
  const body = { temporaryAuthenticationToken, ...credentials, confirmation }
  return service.call('POST', '/auth/credentials', { headers, body })
}

/** Adds a credential; `credentialsOf` builds it from the options and `confirmationOf` signs the challenge. */
export async function addCredential(
  service: Service,
  headers: { authorization: string },
  credentialsOf: (begun: AdditionOptions) => object,
  confirmationOf: (begun: { challenge: string }) => object,
): Promise<HttpReply> {
  const begun = await beginAddition(service, headers)
  return await completeAddition(service, headers, begun, credentialsOf(begun), confirmationOf(begun.confirmation))
}

/** Registers a new user with a key, and with the recovery key if one is given, and logs the user in. */
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

/** Makes a session's login appear this many minutes older. */
export async function ageSession(service: Service, { token }: { readonly token: string }, minutes: number) {
  const createdAt = new Date(Date.now() - minutes * 60_000).toISOString()
  await service.tables.users.write({ pk: `SESSION#${sha256(token)}`, sk: 'SESSION' }, [set('createdAt', createdAt)])
}

const STEP_MS = 30_000

/**
 * Returns the one-time code of an otpauth URL, this many 30-second steps from now. Waits for the next step if the current one
 * is nearly over, because the service verifies the code a moment later.
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
