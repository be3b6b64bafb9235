import { setTimeout } from 'node:timers/promises'
import * as z from 'zod'
import { AppError, badAnswer, codeOf } from '../errors.ts'
import { logger } from '../logger.ts'
import type { Payment } from '../meter/meter.ts'
import { toResult } from '../result.ts'
import { type Answer, type Answers, cacheMemory, nameOf } from './memory.ts'
import { type CacheStore, type Entry, FailureCode } from './store.ts'

/** Answers of one form: the first part of their keys, their schema, and for how many seconds they are fresh and kept. */
export type Namespace<T> = {
  readonly name: string
  /** From JSON; what it encodes is stored. */
  readonly schema: z.ZodType<T>
  readonly freshSeconds: number
  readonly keepSeconds: number
  /** For how long a container gives an answer without another look at the table: only where no request chooses the key. */
  readonly rememberedSeconds?: number
}

/** An answer and its time; stale when it is no longer fresh. */
export type Aged<T> = { readonly value: T; readonly asOf: Date; readonly isStale: boolean }

/** Names one answer. */
export type CacheKey<T> = { readonly namespace: Namespace<T>; readonly key: string }

/** The cached answers of named keys; undefined where there is none. */
type Cached<Keys extends Record<string, CacheKey<unknown>>> = {
  readonly [Name in keyof Keys]: Keys[Name] extends CacheKey<infer T> ? Aged<T> | undefined : never
}

/** The longest lease of a refresh, and the longest wait for another container's first answer. */
const LEASE_MS = 10_000
const LONGEST_WAIT_MS = 8_000
/** An answer of null, which says that there is nothing, is fresh no longer than this. */
const NULL_FRESH_SECONDS = 300
/** Backoff while another container refreshes. */
const FIRST_PAUSE_MS = 25
const LONGEST_PAUSE_MS = 200
/** How long an upstream that failed is not asked again, unless its Retry-After says. */
const PAUSE_AFTER_FAILURE_SECONDS = 5

type Dependencies = {
  readonly table: CacheStore
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Resolves after so many milliseconds. */
  readonly sleep?: (milliseconds: number) => Promise<unknown>
}

/**
 * The answers of upstreams, shared by all containers: one container at a time refreshes an answer, a stale one is given
 * while an upstream is down, and a failure is never cached as an answer.
 */
export function sharedCache({ table, now, sleep = setTimeout }: Dependencies) {
  /** The entry of an answer that was fetched now. */
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

  /** An answer as it is now; undefined where there is none that can still be given. */
  function aged<T>({ namespace }: CacheKey<T>, answer: Answer<T> | undefined): Aged<T> | undefined {
    if (!answer || answer.asOf.getTime() + namespace.keepSeconds * 1000 < now()) return undefined
    return { value: answer.value, asOf: answer.asOf, isStale: answer.freshUntil <= now() }
  }

  async function read(keys: readonly CacheKey<unknown>[]): Promise<Answers> {
    const entries = await table.getMany(keys.map(nameOf))
    const answers = keys.map((key): [string, Answer<unknown> | undefined] => [
      nameOf(key),
      parseAnswer(key, entries.get(nameOf(key))?.answer),
    ])
    return new Map(answers.flatMap(([name, answer]) => (answer ? [[name, answer]] : [])))
  }
  const memory = cacheMemory({ read, now })

  function named<Keys extends Record<string, CacheKey<unknown>>>(keys: Keys, answers: Answers): Cached<Keys> {
    // Entries that are put together lose their names, and with them the type of each answer.
    return Object.fromEntries(
      Object.entries(keys).map(([name, cacheKey]) => [name, aged(cacheKey, answers.get(nameOf(cacheKey)))]),
    ) as Cached<Keys>
  }

  /**
   * Fetches and caches an answer. Throws what `fetch` throws, after storing the failure for the containers that wait. Null,
   * where something is cached, is a failure: what was there a moment ago does not end at once.
   */
  async function refresh<T>(
    cacheKey: CacheKey<T>,
    cached: Aged<T> | undefined,
    fetch: () => Promise<T>,
  ): Promise<Aged<T>> {
    try {
      const value = await fetch()
      if (value === null && cached && cached.value !== null) throw badAnswer('nothing, where there was something')
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
    /** Caches this answer in place of any other, and returns it. */
    put,

    /** Caches these answers, 25 in a request; not for namespaces with `rememberedSeconds`. When it throws, some are cached. */
    putMany: <T>(answers: readonly (readonly [CacheKey<T>, T])[]): Promise<void> =>
      table.putMany(answers.map(([cacheKey, value]) => entryOf(cacheKey, value))),

    /** The cached answers of these keys, at most 100, in one read; nothing is fetched. */
    async get<Keys extends Record<string, CacheKey<unknown>>>(keys: Keys): Promise<Cached<Keys>> {
      return named(keys, await read(Object.values(keys)))
    },

    /**
     * Like `get`, but namespaces with `rememberedSeconds` come from this container's memory, with their true age: concurrent
     * callers share a read, and a table that fails leaves what was remembered.
     */
    async recall<Keys extends Record<string, CacheKey<unknown>>>(keys: Keys): Promise<Cached<Keys>> {
      return named(keys, await memory.recall(Object.values(keys)))
    },

    /**
     * Returns the cached response while fresh, else fetches, else returns the stale one. Of concurrent
     * callers one fetches and pays. Throws the AppError of the failure, or of the payment, if nothing is cached; whatever else
     * `fetch` throws is thrown on.
     */
    async getOrFetch<T>(cacheKey: CacheKey<T>, payment: Payment, fetch: () => Promise<T>): Promise<Aged<T>> {
      const name = nameOf(cacheKey)
      const deadline = now() + LONGEST_WAIT_MS
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
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

/** The stored answer, parsed by its schema. An entry in another form counts as none (decision 0064). */
function parseAnswer<T>({ namespace }: CacheKey<T>, stored: Entry['answer']): Answer<T> | undefined {
  if (!stored) return undefined
  const { success, data } = namespace.schema.safeParse(stored.json)
  return success ? { value: data, asOf: stored.asOf, freshUntil: stored.freshUntil } : undefined
}

/** The error for a caller that did not fetch; `upstream_unavailable` tells when to come back. */
function failedBefore({ code, until }: NonNullable<Entry['failure']>, now: number): AppError {
  return new AppError(code, {
    cause: new Error('it has just failed'),
    ...(code === 'upstream_unavailable' && { headers: { 'retry-after': Math.ceil((until - now) / 1000).toString() } }),
  })
}
