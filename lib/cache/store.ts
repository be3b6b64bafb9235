import { gunzipSync, gzipSync } from 'node:zlib'
import * as z from 'zod'
import { all, any, is, missing, remove, set, setOnce } from '../aws/conditions.ts'
import { buildItem, type Table } from '../aws/table.ts'
import { Timestamp } from '../core/codecs.ts'
import { UPSTREAM_ERRORS } from '../core/errors.ts'
import { HOUR } from '../core/time.ts'

/** Error code of a failed refresh: an external service failed, or the table could not be reached. */
export const FailureCode = z.enum([...UPSTREAM_ERRORS, 'service_unavailable'])

/**
 * Gzip-compressed JSON, because DynamoDB limits items to 400 KB. Bytes that cannot be decompressed become undefined, so
 * the cache entry counts as missing (docs/decisions/0064-items-expand-migrate-contract.md).
 */
const Compressed = z.codec(z.instanceof(Uint8Array), z.unknown(), {
  decode: (bytes) => {
    try {
      return JSON.parse(gunzipSync(bytes).toString())
    } catch {
      return undefined
    }
  },
  encode: (json) => gzipSync(JSON.stringify(json)),
})

/** Cache entry: the response, the lease of a running refresh, and the last failure. Times are in epoch milliseconds. */
const CacheEntry = z.object({
  answer: z.object({ json: Compressed, asOf: Timestamp, freshUntil: z.number() }).optional(),
  refreshingUntil: z.number().optional(),
  failure: z.object({ code: FailureCode, until: z.number() }).optional(),
})
/** Stored cache entry of one key. */
export type CacheEntry = z.output<typeof CacheEntry>
const Expiring = CacheEntry.extend({ expiresAt: z.number() })

const SORT_KEY = 'ANSWER'
const UNANSWERED_SECONDS = HOUR

/** Opens the store of cached responses from external services, shared by all containers. */
export function cacheStore(table: Table) {
  const keyOf = (key: string) => ({ pk: key, sk: SORT_KEY })
  return {
    get: async (key: string): Promise<CacheEntry> =>
      (await table.get(CacheEntry, keyOf(key), { isConsistent: false })) ?? {},

    /** Returns the cache entries of these keys, in their order; undefined for a key without one. One request reads at most 100 keys. */
    getMany: (keys: readonly string[]): Promise<(CacheEntry | undefined)[]> =>
      table.getMany(CacheEntry, keys.map(keyOf), { isConsistent: false }),

    /** Replaces the cache entry of a key with this response. DynamoDB may delete the entry from `expiresAt` (seconds since 1970) on. */
    async put(key: string, answer: NonNullable<CacheEntry['answer']>, expiresAt: number): Promise<void> {
      await table.put(Expiring, keyOf(key), { answer, expiresAt })
    },

    /** Replaces the cache entries of several keys, 25 per request. A failure may leave some of them replaced. */
    putMany: (entries: readonly { key: string; answer: NonNullable<CacheEntry['answer']>; expiresAt: number }[]) =>
      table.putMany(
        entries.map(({ key, ...entry }) => buildItem(Expiring, keyOf(key), entry)),
        { doesCallerWait: true },
      ),

    /**
     * Takes the lease to refresh a key's response. The lease ends at `until`. Returns false if another container has
     * the lease, or the pause after a failed refresh has not ended. Also returns false if the cached response is no
     * longer `seen`, the one that the caller has read.
     */
    takeLease: (key: string, { seen, now, until }: { seen: CacheEntry['answer']; now: number; until: number }) =>
      table.update(keyOf(key), {
        changes: [
          set('refreshingUntil', until),
          setOnce('expiresAt', Math.ceil(until / 1000) + UNANSWERED_SECONDS),
          remove('failure'),
        ],
        when: all(
          any(missing('refreshingUntil'), is('refreshingUntil', '<=', now)),
          any(missing(['failure', 'until']), is(['failure', 'until'], '<=', now)),
          seen ? is(['answer', 'asOf'], '=', z.encode(Timestamp, seen.asOf)) : missing('answer'),
        ),
      }),

    releaseLease: (key: string): Promise<void> => table.write(keyOf(key), [remove('refreshingUntil')]),

    /** Releases the lease after a failed refresh. Stores the failure, which prevents another refresh until `failure.until`. */
    putFailure: (key: string, failure: NonNullable<CacheEntry['failure']>): Promise<void> =>
      table.write(keyOf(key), [set('failure', failure), remove('refreshingUntil')]),
  }
}
export type CacheStore = ReturnType<typeof cacheStore>
