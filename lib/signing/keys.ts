import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import * as z from 'zod'
import { Timestamp } from '../core/codecs.ts'
import type { PublicKey } from './public-key.ts'

/** An Ed25519 key in base64url (RFC 8037): `x` is its public part, `d` its private one. */
const SigningKey = z.object({ x: z.string().length(43), d: z.string().length(43), createdAt: Timestamp })

/** A key that signs responses, with its private part. */
export type SigningKey = z.output<typeof SigningKey>

/** Content of the secret that holds a deployment's signing keys. The first key signs; the other one is only published. */
export const SigningKeys = z.object({ keys: z.array(SigningKey).max(2) })

/** A private key, and the name under which its public part is published. */
export type Signer = { readonly keyId: string; readonly key: KeyObject }

/** Creates a random key. */
export function createSigningKey(createdAt: Date): SigningKey {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  // A key whose id begins with a dash is discarded, because command lines would take the id for an option.
  return keyIdOf({ x }).startsWith('-') ? createSigningKey(createdAt) : { x, d, createdAt }
}

/** Returns the name of a key: the RFC 7638 thumbprint of its public part. */
export function keyIdOf({ x }: Pick<SigningKey, 'x'>): string {
  // RFC 8037 names the required members, RFC 7638 their order.
  return createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url')
}

/** Returns the public part of a key. */
export function publicKeyOf({ x }: Pick<SigningKey, 'x'>): PublicKey {
  return { kty: 'OKP', crv: 'Ed25519', x, kid: keyIdOf({ x }), use: 'sig', alg: 'EdDSA' }
}

/** Returns the private key in Node's form, with its published name. */
export function signerOf({ x, d }: Pick<SigningKey, 'x' | 'd'>): Signer {
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d }, format: 'jwk' })
  return { keyId: keyIdOf({ x }), key }
}
