import { createApiKey, randomBase62 } from '../../lib/clients/api-key.ts'
import type { ApiKey, Client, ClientRecord } from '../../lib/clients/client.ts'
import { DEFAULT_LIMITS, type KeyLimits } from '../../lib/clients/key-limits.ts'
import { sha256 } from '../../lib/core/sha256.ts'
import { type Admin, AdminError } from '../admin.ts'

/** Registers a client without keys and vaults. Throws an AdminError if a client with the same random id exists. */
export async function createClient({ clients, randomBytes, now }: Admin, name: string): Promise<Client> {
  const client = { clientId: randomBase62(10, randomBytes), name, createdAt: new Date(now()), vaults: [] }
  if (!(await clients.create(client))) throw new AdminError('The new client drew an id that is taken. Try again.')
  return client
}

/** Returns the client with its API keys. Throws an AdminError if there is no such client. */
export async function getClient({ clients }: Admin, clientId: string): Promise<ClientRecord> {
  const record = await clients.get(clientId)
  if (!record) throw new AdminError(`There is no client ${clientId}. See list-clients.`)
  return record
}

/** Changes of an API key's limits. Undefined leaves a limit unchanged; null removes a limit that is a list. */
export type LimitChanges = {
  readonly [Name in keyof KeyLimits]?: KeyLimits[Name] | (Name extends 'scopes' | 'rate' ? never : null) | undefined
}

/**
 * Issues an API key for a client. Returns the key with its secret text, which is not stored. Throws an AdminError for an unknown client, an
 * expiry in the past, or limits that contradict each other.
 */
export async function issueKey(
  admin: Admin,
  {
    clientId,
    name,
    expiresAt,
    limits = {},
  }: { clientId: string; name: string; expiresAt?: Date | undefined; limits?: LimitChanges },
): Promise<{ text: string; key: ApiKey }> {
  const { clients, keyEnvironment, randomBytes, now } = admin
  const createdAt = new Date(now())
  if (expiresAt && expiresAt <= createdAt) throw new AdminError('The key would have expired already.')
  await getClient(admin, clientId)

  const text = createApiKey(keyEnvironment, clientId, randomBytes)
  const key: ApiKey = {
    keyId: randomBase62(10, randomBytes),
    name,
    sha256: sha256(text),
    lastFour: text.slice(-4),
    createdAt,
    expiresAt,
    limits: changeLimits(DEFAULT_LIMITS, limits),
  }
  if (!(await clients.putKey(clientId, key))) throw new AdminError('The new key drew an id that is taken. Try again.')
  return { text, key }
}

/**
 * Changes the limits of an API key and returns the changed key. Throws an AdminError for an unknown key, or limits that contradict each
 * other.
 */
export async function updateKeyLimits(
  admin: Admin,
  { clientId, keyId, changes }: { clientId: string; keyId: string; changes: LimitChanges },
): Promise<ApiKey> {
  const key = await getKey(admin, clientId, keyId)
  const limits = changeLimits(key.limits, changes)
  await admin.clients.putLimits(clientId, keyId, limits)
  return { ...key, limits }
}

/** Applies the changes to these limits; null removes a list. Throws an AdminError if the result contradicts itself. */
function changeLimits(limits: KeyLimits, { scopes, rate, ...lists }: LimitChanges): KeyLimits {
  const change = <T>(before: T | undefined, after: T | null | undefined) =>
    after === undefined ? before : (after ?? undefined)
  const changed = {
    scopes: scopes ?? limits.scopes,
    rate: rate ?? limits.rate,
    chains: change(limits.chains, lists.chains),
    vaults: change(limits.vaults, lists.vaults),
    largestDeposits: change(limits.largestDeposits, lists.largestDeposits),
  }
  // A webhook's events concern all vaults of its client, so a key limited to some chains or vaults may not manage webhooks.
  if (changed.scopes.includes('webhooks') && (changed.chains || changed.vaults)) {
    throw new AdminError(
      'A key with the scope webhooks gets events of all vaults of its client: it cannot be limited to chains or vaults.',
    )
  }
  return changed
}

async function getKey(admin: Admin, clientId: string, keyId: string): Promise<ApiKey> {
  const { keys } = await getClient(admin, clientId)
  const key = keys.find((candidate) => candidate.keyId === keyId)
  if (!key) throw new AdminError(`Client ${clientId} has no key ${keyId}. See list-keys.`)
  return key
}

/** Revokes an API key for ever and returns the key. Throws an AdminError for an unknown or revoked key. */
export async function revokeKey(admin: Admin, clientId: string, keyId: string): Promise<ApiKey> {
  const key = await getKey(admin, clientId, keyId)
  const revokedAt = new Date(admin.now())
  const revoked = await admin.clients.revokeKey(clientId, keyId, revokedAt)
  if (!revoked) throw new AdminError(`Key ${keyId} is revoked already.`)
  return { ...key, revokedAt }
}
