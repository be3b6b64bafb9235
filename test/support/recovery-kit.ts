import { createHash, createPrivateKey, sign as signBytes, webcrypto } from 'node:crypto'
import type { CreationOptions } from './credentials.ts'

const { subtle } = webcrypto
const P256 = { name: 'ECDSA', namedCurve: 'P-256' }
const ORIGIN = 'http://localhost:3000'

/** Recovery key as a user keeps it: its id, and the secret text that decrypts its private key. */
export type RecoveryKit = { readonly id: string; readonly secret: string }

/**
 * Creates a recovery key with WebCrypto exactly as DFNS's example of a delegated recovery (https://github.com/dfns/dfns-sdk-ts,
 * examples/sdk/nextjs-delegated-recovery).
 */
export async function someRecoveryKit({ challenge, user }: CreationOptions & { readonly user: { name: string } }) {
  const { publicKey, privateKey } = await subtle.generateKey(P256, true, ['sign', 'verify'])
  const secret = `D1-${Array.from(webcrypto.getRandomValues(new Uint8Array(32)), (byte) => ALPHABET[byte % 32]).join('')}`
  const iv = webcrypto.getRandomValues(new Uint8Array(16))
  const key = await subtle.wrapKey('pkcs8', privateKey, await wrappingKey(secret, user.name), { name: 'AES-GCM', iv })
  const encryptedPrivateKey = text64({ key: base64(key), iv: base64(iv) })

  const clientData = JSON.stringify({ type: 'key.create', challenge: url64(challenge), ...FROM_PAGE })
  const spki = base64(await subtle.exportKey('spki', publicKey))
  const pem = `-----BEGIN PUBLIC KEY-----\n${spki}\n-----END PUBLIC KEY-----`
  const clientDataHash = createHash('sha256').update(clientData).digest('hex')
  const signed = JSON.stringify({ clientDataHash, publicKey: pem })
  const signature = signWith(await subtle.exportKey('pkcs8', privateKey), signed).toString('hex')
  const id = createHash('sha256').update(encryptedPrivateKey).digest('base64url')
  const attestationData = url64(JSON.stringify({ publicKey: pem, signature, algorithm: 'SHA256' }))
  return {
    kit: { id, secret } satisfies RecoveryKit,
    credential: {
      credentialKind: 'RecoveryKey',
      credentialInfo: { credId: id, attestationData, clientData: url64(clientData) },
      encryptedPrivateKey,
    },
  }
}

/** Decrypts the stored private key with the user's secret and signs new credentials. Rejects if the secret is wrong. */
export async function signWithKit(
  { id, secret }: RecoveryKit,
  email: string,
  encryptedRecoveryKey: string,
  newCredentials: object,
): Promise<object> {
  const { key, iv } = JSON.parse(Buffer.from(encryptedRecoveryKey, 'base64').toString())
  const [wrapped, nonce] = [key, iv].map((text: string) => new Uint8Array(Buffer.from(text, 'base64')))
  const privateKey = await subtle.unwrapKey(
    'pkcs8',
    wrapped ?? new Uint8Array(),
    await wrappingKey(secret, email),
    { name: 'AES-GCM', iv: nonce ?? new Uint8Array() },
    P256,
    true,
    ['sign'],
  )
  const challenge = url64(JSON.stringify(newCredentials))
  const clientData = JSON.stringify({ type: 'key.get', challenge, ...FROM_PAGE })
  const signature = signWith(await subtle.exportKey('pkcs8', privateKey), clientData).toString('base64url')
  return { kind: 'RecoveryKey', credentialAssertion: { credId: id, clientData: url64(clientData), signature } }
}

const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const FROM_PAGE = { origin: ORIGIN, crossOrigin: false }

async function wrappingKey(secret: string, username: string) {
  const salt = new Uint8Array(createHash('sha256').update(username.toLowerCase().trim()).digest())
  const material = await subtle.importKey('raw', new TextEncoder().encode(secret), 'PBKDF2', false, ['deriveKey'])
  const derivation = { name: 'PBKDF2', salt, iterations: 100_000, hash: 'SHA-256' }
  return await subtle.deriveKey(derivation, material, { name: 'AES-GCM', length: 256 }, true, ['wrapKey', 'unwrapKey'])
}

/** Signs with ECDSA in ASN.1 format. WebCrypto signatures have another format. */
function signWith(pkcs8: ArrayBuffer, text: string): Buffer {
  const key = createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' })
  return signBytes('sha256', Buffer.from(text), key)
}

function base64(bytes: ArrayBuffer | Uint8Array): string {
  return Buffer.from(new Uint8Array(bytes)).toString('base64')
}

function text64(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}

function url64(text: string): string {
  return Buffer.from(text).toString('base64url')
}
