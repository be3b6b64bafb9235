import { bufferToBase64URLString } from '@simplewebauthn/browser'
import {
  addCredential,
  CallFailure,
  type Client,
  completeRecovery,
  type NewRecoveryKey,
  orThrow,
  type Recovery,
  type Result,
  type StartRecoveryResponse,
  startRecovery,
} from '@vaultline/client'
import { bytesToHex } from 'viem'
import { groupSecret, type RecoveryKit } from './kit-text.ts'
import { type ConfirmedChange, createPasskey, describeDevice } from './passkeys.ts'

type CreationOptions = ConfirmedChange['publicKeyCredentialCreationOptions']
type RecoveryOptions = StartRecoveryResponse['publicKeyCredentialCreationOptions']

const P256 = { name: 'ECDSA', namedCurve: 'P-256' }
const SHA256 = { name: 'ECDSA', hash: 'SHA-256' }
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** New recovery kit. If `isConfirmed` is false, the API's answer is unknown, so either the new kit or the old one is valid. */
export type NewKit = { readonly kit: RecoveryKit; readonly isConfirmed: boolean }

/**
 * Replaces the account's recovery key and returns the new recovery kit. Throws a CallFailure if the API refuses the new
 * key, so that the old key stays valid.
 */
export async function replaceKit(service: Client, change: ConfirmedChange): Promise<NewKit> {
  const { publicKeyCredentialCreationOptions: options, temporaryAuthenticationToken, confirmation } = change
  const { kit, recoveryCredential } = await createKit(options)
  const added = await addCredential(service, { temporaryAuthenticationToken, recoveryCredential, confirmation })
  return { kit, isConfirmed: isConfirmed(added) }
}

/** Result of a recovery; `passkey` is the credential id of the new passkey. */
export type Recovered = NewKit & { readonly passkey: string }

/**
 * Replaces all the account's credentials with a new passkey and a new recovery kit. Throws a CallFailure or the browser's own error if
 * nothing has changed. A wrong kit causes an OperationError.
 */
export async function recoverAccount(service: Client, { email, keyId, secret }: RecoveryKit): Promise<Recovered> {
  const started = orThrow(await startRecovery(service, { platform: 'web', email, credentialId: keyId }))
  const { publicKeyCredentialCreationOptions: options, temporaryAuthenticationToken } = started
  const recoveryKey = await openKey(secret, options)
  const { kit, recoveryCredential } = await createKit(options)
  const firstFactorCredential = { ...(await createPasskey(options)), credentialName: describeDevice() }
  const newCredentials = { firstFactorCredential, recoveryCredential }
  const recovery = await signCredentials(recoveryKey, keyId, newCredentials)
  const completed = await completeRecovery(service, { temporaryAuthenticationToken, recovery, newCredentials })
  return { kit, isConfirmed: isConfirmed(completed), passkey: firstFactorCredential.credentialInfo.credId }
}

/** Returns true if the change was made, false if that is unknown. Throws a CallFailure if the API refused the change. */
function isConfirmed(result: Result<unknown>): boolean {
  if (result.ok) return true
  const { status, code } = result.error
  if (status >= 400 && status < 500 && code !== 'unexpected') throw new CallFailure(result.error)
  return false
}

async function createKit(options: CreationOptions | RecoveryOptions) {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(P256, true, ['sign', 'verify'])
  const keyId = bufferToBase64URLString(crypto.getRandomValues(new Uint8Array(32)).buffer)
  const random = crypto.getRandomValues(new Uint8Array(32))
  const secret = groupSecret(`D1${Array.from(random, (byte) => ALPHABET[byte % ALPHABET.length]).join('')}`)

  const clientData = JSON.stringify({ type: 'key.create', challenge: options.challenge })
  const pem = toPem(await crypto.subtle.exportKey('spki', publicKey))
  const clientDataHash = toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', toBytes(clientData))))
  const signature = toHex(await sign(privateKey, JSON.stringify({ clientDataHash, publicKey: pem })))
  const attestationData = toBase64Url(JSON.stringify({ publicKey: pem, signature }))

  const iv = crypto.getRandomValues(new Uint8Array(16))
  const wrappingKey = await deriveKey(secret, options.user.name)
  const wrapped = await crypto.subtle.wrapKey('pkcs8', privateKey, wrappingKey, { name: 'AES-GCM', iv })
  const encryptedPrivateKey = btoa(JSON.stringify({ key: toBase64(wrapped), iv: toBase64(iv.buffer) }))
  const credentialInfo = { credId: keyId, clientData: toBase64Url(clientData), attestationData }
  const recoveryCredential: NewRecoveryKey = { credentialKind: 'RecoveryKey', credentialInfo, encryptedPrivateKey }
  return { kit: { email: options.user.name, keyId, secret } satisfies RecoveryKit, recoveryCredential }
}

async function openKey(secret: string, { user, allowedRecoveryCredentials }: RecoveryOptions): Promise<CryptoKey> {
  const { key, iv } = JSON.parse(atob(allowedRecoveryCredentials[0]?.encryptedRecoveryKey ?? ''))
  const wrappingKey = await deriveKey(secret, user.name)
  const cipher = { name: 'AES-GCM', iv: fromBase64(iv) }
  return crypto.subtle.unwrapKey('pkcs8', fromBase64(key), wrappingKey, cipher, P256, false, ['sign'])
}

/**
 * Signs the new credentials with the recovery key. They are the challenge that is signed, so an attacker on the network
 * cannot exchange them.
 */
async function signCredentials(recoveryKey: CryptoKey, credId: string, newCredentials: object): Promise<Recovery> {
  const clientData = JSON.stringify({ type: 'key.get', challenge: toBase64Url(JSON.stringify(newCredentials)) })
  const signature = bufferToBase64URLString((await sign(recoveryKey, clientData)).buffer)
  return { kind: 'RecoveryKey', credentialAssertion: { credId, clientData: toBase64Url(clientData), signature } }
}

async function deriveKey(secret: string, username: string): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', toBytes(secret), 'PBKDF2', false, ['deriveKey'])
  const salt = await crypto.subtle.digest('SHA-256', toBytes(username))
  const derivation = { name: 'PBKDF2', salt, iterations: 100_000, hash: 'SHA-256' }
  return crypto.subtle.deriveKey(derivation, material, { name: 'AES-GCM', length: 256 }, false, [
    'wrapKey',
    'unwrapKey',
  ])
}

async function sign(key: CryptoKey, text: string): Promise<Uint8Array<ArrayBuffer>> {
  return toDer(new Uint8Array(await crypto.subtle.sign(SHA256, key, toBytes(text))))
}

/** Converts an ECDSA signature of Web Crypto to ASN.1 DER: two positive integers without unneeded leading zeros. */
function toDer(raw: Uint8Array): Uint8Array<ArrayBuffer> {
  const integer = (bytes: Uint8Array) => {
    const digits = [...bytes.subarray(bytes.findIndex((byte) => byte !== 0))]
    const positive = (digits[0] ?? 0) > 127 ? [0, ...digits] : digits
    return [2, positive.length, ...positive]
  }
  const integers = [...integer(raw.subarray(0, 32)), ...integer(raw.subarray(32))]
  return Uint8Array.of(0x30, integers.length, ...integers)
}

function toPem(spki: ArrayBuffer): string {
  return `-----BEGIN PUBLIC KEY-----\n${toBase64(spki)}\n-----END PUBLIC KEY-----`
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function toBase64Url(text: string): string {
  return bufferToBase64URLString(toBytes(text).buffer)
}

function toBase64(bytes: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)))
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}

function toHex(bytes: Uint8Array): string {
  return bytesToHex(bytes).slice(2)
}
