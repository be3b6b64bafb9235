import { setTimeout } from 'node:timers/promises'
import * as z from 'zod'
import { AppError } from '../errors.ts'
import { logger } from '../logger.ts'
import type { CacheStore, Entry, FailureCode } from './store.ts'

/** A kind of answer: its name, its form, for how long it is taken for the present, and for how long it may stand in for it. */
export type Namespace<T> = {
  readonly name: string
  /** From JSON; what it encodes is kept. */
  readonly schema: z.ZodType<T>
  readonly freshSeconds: number
  readonly keepSeconds: number
}

/** An answer and the moment of it; stale when it is no longer taken for the present. */
export type Aged<T> = { readonly value: T; readonly asOf: Date; readonly isStale: boolean }

/** One question of a kind. */
export type CacheKey<T> = { readonly namespace: Namespace<T>; readonly key: string }

/** The answers to named questions; undefined where none is kept. */
type Cached<Questions extends Record<string, CacheKey<unknown>>> = {
  readonly [Name in keyof Questions]: Questions[Name] extends CacheKey<infer T> ? Aged<T> | undefined : never
}

/** A refresh takes no longer, and the others wait no longer for the first answer. */
const LONGEST_REFRESH_MS = 10_000
const LONGEST_WAIT_MS = 8_000
/** That there is nothing, which an answer of null says, may change at any time. */
const NOTHING_FRESH_SECONDS = 300
/** Those who wait look soon, and then less and less often. */
const FIRST_LOOK_MS = 25
const LONGEST_LOOK_MS = 200
/** An upstream that failed is left alone for so long, unless it says for how long itself. */
const PAUSE_AFTER_FAILURE_SECONDS = 5

type Dependencies = {
  readonly table: CacheStore
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Resolves after so many milliseconds. */
  readonly sleep?: (milliseconds: number) => Promise<unknown>
}

/**
 * The answers of upstreams, shared by all containers: each question is asked by one at a time, a stale answer stands in
 * while an upstream is down, and a failure is never kept as an answer.
 */
export function sharedCache({ table, now, sleep = setTimeout }: Dependencies) {
  async function put<T>({ namespace, key }: CacheKey<T>, value: T): Promise<Aged<T>> {
    const asOf = new Date(now())
    const freshSeconds =
      value === null ? Math.min(namespace.freshSeconds, NOTHING_FRESH_SECONDS) : namespace.freshSeconds
    const freshUntil = now() + freshSeconds * 1000
    const expiresAt = Math.ceil(now() / 1000) + namespace.keepSeconds
    await table.put(
      nameOf({ namespace, key }),
      { json: z.encode(namespace.schema, value), asOf, freshUntil },
      expiresAt,
    )
    return { value, asOf, isStale: false }
  }

  /** What an entry says now; undefined where it has no answer, or one too old to stand in. */
  function known<T>({ namespace }: CacheKey<T>, { answer }: Entry): Aged<T> | undefined {
    if (!answer || answer.asOf.getTime() + namespace.keepSeconds * 1000 < now()) return undefined
    // An older version of the service kept another form: as good as nothing.
    const value = namespace.schema.safeParse(answer.json)
    return value.success ? { value: value.data, asOf: answer.asOf, isStale: answer.freshUntil <= now() } : undefined
  }

  /** What a refresh gives; when it fails, those who wait are told, and it throws. */
  async function announce<T>(name: string, refresh: () => Promise<T>): Promise<T> {
    try {
      return await refresh()
    } catch (error) {
      const { code, headers } = error instanceof AppError ? error : new AppError('upstream_bad_answer')
      const seconds = Number(headers['retry-after'] ?? PAUSE_AFTER_FAILURE_SECONDS)
      await table.giveUp(name, { code: failureCode(code), until: now() + seconds * 1000 })
      throw error
    }
  }

  return {
    /** Keeps this as the answer to the question, whatever was kept. */
    put,

    /** What is kept of these questions, at most 100, in one read; nothing is asked. */
    async get<Questions extends Record<string, CacheKey<unknown>>>(keys: Questions): Promise<Cached<Questions>> {
      const entries = await table.getMany([...new Set(Object.values(keys).map(nameOf))])
      // Entries that are put together lose their names, and with them which question each answers.
      return Object.fromEntries(
        Object.entries(keys).map(([name, cacheKey]) => [name, known(cacheKey, entries.get(nameOf(cacheKey)) ?? {})]),
      ) as Cached<Questions>
    },

    /**
     * The answer to a question: the kept one while it is fresh, else the upstream's, else the kept one, stale. Of all
     * who ask at once one asks the upstream. Throws the AppError of the failure where nothing is kept; what `ask` throws
     * is a failure of an upstream, never an answer.
     */
    async getOrFetch<T>(cacheKey: CacheKey<T>, fetch: () => Promise<T>): Promise<Aged<T>> {
      const name = nameOf(cacheKey)
      const giveUpAt = now() + LONGEST_WAIT_MS
      for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 2, LONGEST_LOOK_MS)) {
        const entry = await table.get(name)
        const kept = known(cacheKey, entry)
        if (kept && !kept.isStale) return kept

        const { answer: seen, failure } = entry
        const hasFailed = failure !== undefined && failure.until > now()
        if (!hasFailed && (await table.takeRefresh(name, { seen, now: now(), until: now() + LONGEST_REFRESH_MS }))) {
          try {
            return await announce(name, async () => put(cacheKey, await fetch()))
          } catch (error) {
            if (!kept || !(error instanceof AppError)) throw error
            logger.warn('stale answer', { namespace: cacheKey.namespace.name, code: error.code })
            return kept
          }
        }
        if (kept) return kept
        if (hasFailed) throw failedBefore(failure, now())
        if (now() >= giveUpAt)
          throw new AppError('upstream_timeout', { cause: new Error('the refresh takes too long') })
        await sleep(pause)
      }
    },
  }
}
export type SharedCache = ReturnType<typeof sharedCache>

function nameOf({ namespace, key }: CacheKey<unknown>): string {
  return `${namespace.name}#${key}`
}

function failureCode(code: string): FailureCode {
  return code === 'upstream_timeout' || code === 'upstream_unavailable' ? code : 'upstream_bad_answer'
}

/** The error for those who did not ask themselves: that an upstream is unavailable comes with the time to wait. */
function failedBefore({ code, until }: NonNullable<Entry['failure']>, now: number): AppError {
  return new AppError(code, {
    cause: new Error('it has just failed'),
    ...(code === 'upstream_unavailable' && { headers: { 'retry-after': Math.ceil((until - now) / 1000).toString() } }),
  })
}
