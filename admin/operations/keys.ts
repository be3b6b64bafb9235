import { sha256 } from '../../lib/core/sha256.ts'
import { createSigningKey, keyIdOf, type SigningKey } from '../../lib/signing/keys.ts'
import { type Admin, AdminError } from '../admin.ts'
import type { EdgeKeysSecret } from '../edge-keys.ts'

/**
 * Adds a signing key and returns its id, its public key, and whether it signs. The first key signs; a second key is only published. Throws
 * an AdminError if there are two keys already.
 */
export async function addSigningKey({ signingKeys, now }: Admin) {
  const keys = await signingKeys.read()
  if (keys.length > 1) throw new AdminError('There are two keys already. See remove-signing-key.')
  const key = createSigningKey(new Date(now()))
  await signingKeys.write([...keys, key])
  return { keyId: keyIdOf(key), x: key.x, signs: keys.length === 0 }
}

/**
 * Makes this key sign from now on; the previous signing key stays published. Throws an AdminError for an unknown key, or if the key signs
 * already.
 */
export async function activateSigningKey({ signingKeys }: Admin, keyId: string): Promise<void> {
  const keys = await signingKeys.read()
  const [first] = keys
  const key = findKey(keys, keyId)
  if (key === first) throw new AdminError(`Key ${keyId} is the one that signs already.`)
  await signingKeys.write([key, ...keys.filter((other) => other !== key)])
}

/** Removes this key from the published ones. Throws an AdminError for an unknown key, or the key that signs. */
export async function removeSigningKey({ signingKeys }: Admin, keyId: string): Promise<void> {
  const keys = await signingKeys.read()
  const key = findKey(keys, keyId)
  if (key === keys[0]) throw new AdminError(`Key ${keyId} is the one that signs. See use-signing-key.`)
  await signingKeys.write(keys.filter((other) => other !== key))
}

/**
 * Adds a key by which functions recognize CloudFront. Returns the hash of the key, which is no secret. Throws an AdminError if there are
 * two keys already.
 */
export async function addEdgeKey({ edgeKeys, randomBytes }: Pick<Admin, 'edgeKeys' | 'randomBytes'>): Promise<string> {
  const [secret, keys] = await readEdgeKeys(edgeKeys)
  if (Object.keys(keys).length > 1) throw new AdminError('There are two keys already. See remove-edge-key.')
  const key = Buffer.from(randomBytes(32)).toString('hex')
  const hash = sha256(key)
  await secret.write({ ...keys, [hash]: key })
  return hash
}

/** Deletes a key by which functions recognize CloudFront. Later deploys cannot use it. Throws an AdminError for an unknown key. */
export async function removeEdgeKey({ edgeKeys }: Admin, hash: string): Promise<void> {
  const [secret, { [hash]: key, ...others }] = await readEdgeKeys(edgeKeys)
  if (key === undefined) throw new AdminError(`There is no key ${hash}.`)
  await secret.write(others)
}

async function readEdgeKeys(secret: EdgeKeysSecret | undefined) {
  if (!secret) throw new AdminError('The local service has no edge. Give --stage.')
  return [secret, await secret.read()] as const
}

function findKey(keys: readonly SigningKey[], keyId: string): SigningKey {
  const key = keys.find((candidate) => keyIdOf(candidate) === keyId)
  if (!key) throw new AdminError(`There is no key ${keyId}. See list-signing-keys.`)
  return key
}
