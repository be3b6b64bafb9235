import { readSecretJson } from '../aws/secrets.ts'
import { cacheForLifetime } from '../core/once.ts'
import { type Signer, type SigningKey, SigningKeys, signerOf } from './keys.ts'

/** Maximum milliseconds until a key that was added or chosen reaches every container. */
const LIFETIME_MS = 5 * 60_000

/**
 * Returns a function that reads the keys in this secret, the one that signs first. It reads again every five minutes,
 * and throws if they cannot be read.
 */
export function signingKeysIn(secretId: string): () => Promise<readonly SigningKey[]> {
  return cacheForLifetime(async () => (await readSecretJson(secretId, SigningKeys)).keys, LIFETIME_MS, Date.now)
}

/**
 * Returns a function that reads the key that signs; undefined before there is one. It reads again every five minutes,
 * and throws if that fails.
 */
export function signerIn(secretId: string): () => Promise<Signer | undefined> {
  const read = async () => (await readSecretJson(secretId, SigningKeys)).keys.map(signerOf)[0]
  return cacheForLifetime(read, LIFETIME_MS, Date.now)
}
