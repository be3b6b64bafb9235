import { AppError } from '../core/errors.ts'
import { equalHashes, sha256 } from '../core/sha256.ts'
import { parseApiKey } from './api-key.ts'
import { type ApiKey, type Client, type ClientRecord, keyStatus } from './client.ts'

const CACHE_MS = 60_000
const UNKNOWN_KEY_MS = 10_000

/**
 * Returns a function that finds the client of an API key. The function throws `missing_api_key` or `invalid_api_key`.
 * Clients and keys are cached for 60 s, so a revoked key and changed limits take effect after up to 60 s. New keys work
 * immediately, because a key that is not cached is looked up again. After a failed look-up, unknown keys of the same
 * client are not looked up for 10 s.
 */
export function createClientLookup({
  get,
  now,
}: {
  readonly get: (clientId: string) => Promise<ClientRecord | null>
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
}) {
  // Only existing clients are cached. So requests with invented client ids cannot fill the memory.
  const remembered = new Map<string, { record: ClientRecord; until: number; looksFrom: number }>()
  const queries = new Map<string, Promise<ClientRecord | null>>()

  const recall = (clientId: string) => {
    const entry = remembered.get(clientId)
    return entry && now() < entry.until ? entry : null
  }

  const query = (clientId: string) => {
    const underWay = queries.get(clientId)
    if (underWay) return underWay
    const until = now() + CACHE_MS
    const started = get(clientId)
      .then((record) => {
        for (const [id, entry] of remembered) if (entry.until <= now()) remembered.delete(id)
        if (record) remembered.set(clientId, { record, until, looksFrom: 0 })
        else remembered.delete(clientId)
        return record
      })
      .finally(() => queries.delete(clientId))
    queries.set(clientId, started)
    return started
  }

  const find = async (clientId: string, hash: string) => {
    const entry = recall(clientId)
    const known = entry && match(entry.record, hash)
    if (known || (entry && now() < entry.looksFrom)) return known
    const owner = match(await query(clientId), hash)
    const fresh = remembered.get(clientId)
    if (!owner && fresh) fresh.looksFrom = now() + UNKNOWN_KEY_MS
    return owner
  }

  return async (apiKey: string | undefined): Promise<{ client: Client; key: ApiKey }> => {
    if (!apiKey) throw new AppError('missing_api_key')
    const parsed = parseApiKey(apiKey)
    if (!parsed) throw new AppError('invalid_api_key')
    const owner = await find(parsed.clientId, sha256(apiKey))
    if (!owner || keyStatus(owner.key, now()) !== 'active') throw new AppError('invalid_api_key')
    return owner
  }
}

function match(record: ClientRecord | null, hash: string) {
  // The hash is compared with all keys, so the duration does not reveal which key matches.
  const key = record?.keys.filter((candidate) => equalHashes(candidate.sha256, hash))[0]
  return record && key && { client: record.client, key }
}
