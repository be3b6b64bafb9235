import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import * as z from 'zod'
import { Timestamp } from '../core/codecs.ts'
import type { PublicKey } from './public-key.ts'

/** Ed25519 key in base64url (RFC 8037). `x` is the public key, `d` the private key. */
const SigningKey = z.object({ x: z.string().length(43), d: z.string().length(43), createdAt: Timestamp })

/** Key pair that signs responses. */
export type SigningKey = z.output<typeof SigningKey>

/** Content of the secret with a stage's signing keys. The first key signs responses; the second key is only published. */
export const SigningKeys = z.object({ keys: z.array(SigningKey).max(2) })

/** Private key that signs responses, and the id under which its public key is published. */
export type Signer = { readonly keyId: string; readonly key: KeyObject }

/** Creates a random Ed25519 key pair for signing responses. */
export function createSigningKey(createdAt: Date): SigningKey {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  // A key whose id begins with a dash is discarded. Command-line tools would take such an id for an option.
  return keyIdOf({ x }).startsWith('-') ? createSigningKey(createdAt) : { x, d, createdAt }
}

/** Returns the id of a key: the RFC 7638 thumbprint of its public key. */
export function keyIdOf({ x }: Pick<SigningKey, 'x'>): string {
  // RFC 8037 defines which members the thumbprint covers, RFC 7638 their order.
  return createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url')
}

/** Returns the public key in the JWK format in which it is published. */
export function publicKeyOf({ x }: Pick<SigningKey, 'x'>): PublicKey {
  return { kty: 'OKP', crv: 'Ed25519', x, kid: keyIdOf({ x }), use: 'sig', alg: 'EdDSA' }
}

/** Returns the private key as Node's KeyObject, with the id under which its public key is published. */
export function signerOf({ x, d }: Pick<SigningKey, 'x' | 'd'>): Signer {
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d }, format: 'jwk' })
  return { keyId: keyIdOf({ x }), key }
}
