import { readSecretJson } from '../aws/secrets.ts'
import { cacheForLifetime } from '../core/once.ts'
import { type Signer, type SigningKey, SigningKeys, signerOf } from './keys.ts'

/** Milliseconds for which a container caches the signing keys. An added or selected key reaches every container within this time. */
const LIFETIME_MS = 5 * 60_000

/**
 * Returns a function that reads the signing keys in a secret; the first one signs. The function reads the secret again
 * every five minutes. Throws if the secret cannot be read.
 */
export function createSigningKeysReader(secretId: string): () => Promise<readonly SigningKey[]> {
  return cacheForLifetime(async () => (await readSecretJson(secretId, SigningKeys)).keys, LIFETIME_MS, Date.now)
}

/**
 * Returns a function that reads the key that signs responses; undefined if there is none yet. The function reads the
 * secret again every five minutes. Throws if the secret cannot be read.
 */
export function createSignerReader(secretId: string): () => Promise<Signer | undefined> {
  const read = async () => (await readSecretJson(secretId, SigningKeys)).keys.map(signerOf)[0]
  return cacheForLifetime(read, LIFETIME_MS, Date.now)
}
