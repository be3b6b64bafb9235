import { setTimeout } from 'node:timers/promises'
import * as z from 'zod'
import { AppError, badResponse, codeOf } from '../core/errors.ts'
import { logger } from '../core/logger.ts'
import { toResult } from '../core/result.ts'
import type { Payment } from '../meter/meter.ts'
import { type CachedAnswer, type CachedAnswers, cacheMemory, nameOf } from './memory.ts'
import { type CacheEntry, type CacheStore, FailureCode } from './store.ts'

/**
 * Group of cached responses from external services. `name` is the first part of their cache keys. A response is fresh
 * for `freshSeconds` and is deleted after `keepSeconds`.
 */
export type CacheNamespace<T> = {
  readonly name: string
  /** Schema of a cached response, which is stored in its encoded form. */
  readonly schema: z.ZodType<T>
  readonly freshSeconds: number
  readonly keepSeconds: number
  /**
   * Seconds for which a container reuses a response from its memory. It is set only for namespaces with few keys, to
   * which API requests cannot add others. So the memory stays small.
   */
  readonly rememberedSeconds?: number
}

/** Cached response, and the time when it was fetched. `isStale` is true once the response is older than `freshSeconds` of its namespace. */
export type Aged<T> = { readonly value: T; readonly asOf: Date; readonly isStale: boolean }

/** Key of one cached response within a namespace. */
export type CacheKey<T> = { readonly namespace: CacheNamespace<T>; readonly key: string }

type Cached<Keys extends Record<string, CacheKey<unknown>>> = {
  readonly [Name in keyof Keys]: Keys[Name] extends CacheKey<infer T> ? Aged<T> | undefined : never
}

/** Milliseconds for which one container has the lease to refresh a response. Other containers wait at most MAX_WAIT_MS for the result. */
const LEASE_MS = 10_000
const MAX_WAIT_MS = 8_000
/**
 * Maximum seconds for which a cached null is fresh. Null means that the external service does not know the requested
 * data, which can change soon.
 */
const NULL_FRESH_SECONDS = 300
/**
 * Milliseconds of the first pause between reads of the cache while another container refreshes a response. The pauses
 * double up to MAX_PAUSE_MS.
 */
const FIRST_PAUSE_MS = 25
const MAX_PAUSE_MS = 200
/** Seconds without a new refresh after the external service failed, unless its Retry-After header sets the time. */
const PAUSE_AFTER_FAILURE_SECONDS = 5

/**
 * Creates the cache of responses from external services, shared by all containers. Only one container at a time
 * refreshes a response. While an external service fails, its stale response is returned. A failure is never cached as a
 * response.
 */
export function sharedCache({
  table,
  now,
  sleep = setTimeout,
}: {
  readonly table: CacheStore
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
  readonly sleep?: (milliseconds: number) => Promise<unknown>
}) {
  function entryOf<T>(cacheKey: CacheKey<T>, value: T) {
    const { schema, freshSeconds, keepSeconds } = cacheKey.namespace
    const freshMs = 1000 * (value === null ? Math.min(freshSeconds, NULL_FRESH_SECONDS) : freshSeconds)
    const answer = { json: z.encode(schema, value), asOf: new Date(now()), freshUntil: now() + freshMs }
    return { key: nameOf(cacheKey), answer, expiresAt: Math.ceil(now() / 1000) + keepSeconds }
  }

  async function put<T>(cacheKey: CacheKey<T>, value: T): Promise<Aged<T>> {
    const { key, answer, expiresAt } = entryOf(cacheKey, value)
    await table.put(key, answer, expiresAt)
    memory.replace(cacheKey, { value, asOf: answer.asOf, freshUntil: answer.freshUntil })
    return { value, asOf: answer.asOf, isStale: false }
  }

  function aged<T>({ namespace }: CacheKey<T>, answer: CachedAnswer<T> | undefined): Aged<T> | undefined {
    if (!answer || answer.asOf.getTime() + namespace.keepSeconds * 1000 < now()) return undefined
    return { value: answer.value, asOf: answer.asOf, isStale: answer.freshUntil <= now() }
  }

  async function read(keys: readonly CacheKey<unknown>[]): Promise<CachedAnswers> {
    const entries = await table.getMany(keys.map(nameOf))
    return new Map(
      keys.flatMap((key, index): [string, CachedAnswer<unknown>][] => {
        const answer = parseAnswer(key, entries[index]?.answer)
        return answer ? [[nameOf(key), answer]] : []
      }),
    )
  }
  const memory = cacheMemory({ read, now })

  function named<Keys extends Record<string, CacheKey<unknown>>>(keys: Keys, answers: CachedAnswers): Cached<Keys> {
    // The cast is safe: each response has the name of its cache key.
    return Object.fromEntries(
      Object.entries(keys).map(([name, cacheKey]) => [name, aged(cacheKey, answers.get(nameOf(cacheKey)))]),
    ) as Cached<Keys>
  }

  /**
   * Fetches a response and caches it. After a failure it stores the error, so that waiting containers stop waiting. A
   * null in place of a cached value counts as a failure, because data rarely disappear.
   */
  async function refresh<T>(
    cacheKey: CacheKey<T>,
    cached: Aged<T> | undefined,
    fetch: () => Promise<T>,
  ): Promise<Aged<T>> {
    try {
      const value = await fetch()
      if (value === null && cached && cached.value !== null) throw badResponse('null in place of a cached value')
      return await put(cacheKey, value)
    } catch (error) {
      const retryAfter = error instanceof AppError ? error.headers['retry-after'] : undefined
      const seconds = Number(retryAfter ?? PAUSE_AFTER_FAILURE_SECONDS)
      const known = FailureCode.catch('upstream_bad_answer').parse(codeOf(error))
      await table.putFailure(nameOf(cacheKey), { code: known, until: now() + seconds * 1000 })
      throw error
    }
  }

  return {
    /**
     * Caches a new response, which replaces an earlier response with the same key. Returns the new response with its
     * time.
     */
    put,

    /**
     * Caches responses, 25 per request. A failure may leave some of them cached. Not for namespaces with
     * `rememberedSeconds`, whose copies in memory would stay old.
     */
    putMany: <T>(answers: readonly (readonly [CacheKey<T>, T])[]): Promise<void> =>
      table.putMany(answers.map(([cacheKey, value]) => entryOf(cacheKey, value))),

    /** Returns the cached responses of at most 100 keys with one read. It fetches nothing from external services. */
    async get<Keys extends Record<string, CacheKey<unknown>>>(keys: Keys): Promise<Cached<Keys>> {
      return named(keys, await read(Object.values(keys)))
    },

    /**
     * Returns cached responses like `get`, but takes responses in namespaces with `rememberedSeconds` from this
     * container's memory. Their age is still the true age. Concurrent callers share one read. If the table fails, the
     * responses in memory are returned.
     */
    async recall<Keys extends Record<string, CacheKey<unknown>>>(keys: Keys): Promise<Cached<Keys>> {
      return named(keys, await memory.recall(Object.values(keys)))
    },

    /**
     * Returns the cached response if it is fresh. Otherwise it fetches a new response. It returns the stale response if
     * the fetch fails, the request budget is exhausted, or another caller already fetches. Only the caller that fetches
     * is charged. Without a cached response it throws the AppError of the fetch or of the exhausted budget. Other
     * errors of `fetch` are always thrown.
     */
    async getOrFetch<T>(cacheKey: CacheKey<T>, payment: Payment, fetch: () => Promise<T>): Promise<Aged<T>> {
      const name = nameOf(cacheKey)
      const deadline = now() + MAX_WAIT_MS
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
        const entry = await table.get(name)
        const cached = aged(cacheKey, parseAnswer(cacheKey, entry.answer))
        if (cached && !cached.isStale) return cached

        const failure = entry.failure && entry.failure.until > now() ? entry.failure : undefined
        const lease = { seen: entry.answer, now: now(), until: now() + LEASE_MS }
        let refusal = payment.findRefusal()
        if (!failure && !refusal && (await table.takeLease(name, lease))) {
          const paid = await toResult(payment.pay())
          if ('value' in paid) {
            return refresh(cacheKey, cached, fetch).catch((error: unknown) => {
              if (!cached || !(error instanceof AppError)) throw error
              logger.warn('stale answer', { namespace: cacheKey.namespace.name, code: error.code })
              return cached
            })
          }
          refusal = paid.error
          await table.releaseLease(name)
        }
        if (cached) return cached
        if (failure) throw failedBefore(failure, now())
        if (refusal) throw refusal
        if (now() >= deadline)
          throw new AppError('upstream_timeout', { cause: new Error('the refresh takes too long') })
        await sleep(pause)
      }
    },
  }
}
export type SharedCache = ReturnType<typeof sharedCache>

/**
 * Parses a stored response. A response that does not match the schema counts as missing
 * (docs/decisions/0064-items-expand-migrate-contract.md).
 */
function parseAnswer<T>({ namespace }: CacheKey<T>, stored: CacheEntry['answer']): CachedAnswer<T> | undefined {
  if (!stored) return undefined
  const { success, data } = namespace.schema.safeParse(stored.json)
  return success ? { value: data, asOf: stored.asOf, freshUntil: stored.freshUntil } : undefined
}

function failedBefore({ code, until }: NonNullable<CacheEntry['failure']>, now: number): AppError {
  return new AppError(code, {
    cause: new Error('a refresh has just failed'),
    ...(code === 'upstream_unavailable' && { headers: { 'retry-after': Math.ceil((until - now) / 1000).toString() } }),
  })
}
