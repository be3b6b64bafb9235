import { readSecretJson } from '../aws/secrets.ts'
import { refreshed } from '../once.ts'
import { type Signer, type SigningKey, SigningKeys, signerOf } from './keys.ts'

/** A key that is added or chosen reaches every container within this time. */
const LIFETIME_MS = 5 * 60_000

/** Reads the keys in this secret, the one that signs first; anew every five minutes. Throws when they cannot be read. */
export function signingKeysIn(secretId: string): () => Promise<readonly SigningKey[]> {
  return refreshed(async () => (await readSecretJson(secretId, SigningKeys)).keys, LIFETIME_MS, Date.now)
}

/** Reads what signs, undefined before there is a key; anew every five minutes. Throws when it cannot be read. */
export function signerIn(secretId: string): () => Promise<Signer | undefined> {
  const read = async () => (await readSecretJson(secretId, SigningKeys)).keys.map(signerOf)[0]
  return refreshed(read, LIFETIME_MS, Date.now)
}
