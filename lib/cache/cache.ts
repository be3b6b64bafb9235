import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { AppError } from '../errors.ts'
import { logger } from '../logger.ts'
import type { CacheTable, Entry, FailureCode } from './table.ts'

/** A kind of answer: its name, its form, for how long it is taken for the present, and for how long it may stand in for it. */
export type Kind<T> = {
  readonly name: string
  /** From JSON; what it encodes is kept. */
  readonly schema: z.ZodType<T>
  readonly freshSeconds: number
  readonly keepSeconds: number
}

/** An answer and the moment of it; stale when it is no longer taken for the present. */
export type Aged<T> = { readonly value: T; readonly asOf: Date; readonly isStale: boolean }

/** One question of a kind. */
export type Question<T> = { readonly kind: Kind<T>; readonly key: string }

/** The answers to named questions; undefined where none is kept. */
type Known<Questions extends Record<string, Question<unknown>>> = {
  readonly [Name in keyof Questions]: Questions[Name] extends Question<infer T> ? Aged<T> | undefined : never
}

/** A refresh takes no longer, and the others wait no longer for the first answer. */
const LONGEST_REFRESH_MS = 10_000
const LONGEST_WAIT_MS = 8_000
const LOOK_EVERY_MS = 100
/** An upstream that failed is left alone for so long, unless it says for how long itself. */
const PAUSE_AFTER_FAILURE_SECONDS = 5

/**
 * The answers of upstreams, shared by all containers: each question is asked by one at a time, a stale answer stands in
 * while an upstream is down, and a failure is never kept as an answer. `now` is in epoch milliseconds.
 */
export function sharedCache({ table, now }: { readonly table: CacheTable; readonly now: () => number }) {
  /** Asks the upstream and keeps what it says; what fails is told to those who wait, and thrown. */
  async function refresh<T>({ kind, key }: Question<T>, ask: () => Promise<T>): Promise<Aged<T>> {
    try {
      const value = await ask()
      return await put({ kind, key }, value)
    } catch (error) {
      const { code, headers } = error instanceof AppError ? error : new AppError('upstream_bad_answer')
      const pause = Number(headers['retry-after'] ?? PAUSE_AFTER_FAILURE_SECONDS)
      await table.giveUp(nameOf({ kind, key }), { code: failureCode(code), until: now() + pause * 1000 })
      throw error
    }
  }

  async function put<T>({ kind, key }: Question<T>, value: T): Promise<Aged<T>> {
    const asOf = new Date(now())
    const answer = {
      json: z.json().parse(z.encode(kind.schema, value)),
      asOf,
      freshUntil: now() + kind.freshSeconds * 1000,
    }
    await table.put(nameOf({ kind, key }), answer, Math.ceil(now() / 1000) + kind.keepSeconds)
    return { value, asOf, isStale: false }
  }

  /** What an entry says now; undefined where it has no answer, or one too old to stand in. */
  function known<T>({ kind }: Question<T>, { answer }: Entry): Aged<T> | undefined {
    if (!answer || answer.asOf.getTime() + kind.keepSeconds * 1000 < now()) return undefined
    // An older version of the service kept another form: as good as nothing.
    const value = kind.schema.safeParse(answer.json)
    return value.success ? { value: value.data, asOf: answer.asOf, isStale: answer.freshUntil <= now() } : undefined
  }

  return {
    put,

    /** What is kept of these questions, at most 100, in one read; nothing is asked. */
    async get<Questions extends Record<string, Question<unknown>>>(questions: Questions): Promise<Known<Questions>> {
      const entries = await table.getMany([...new Set(Object.values(questions).map(nameOf))])
      return Object.fromEntries(
        Object.entries(questions).map(([name, question]) => [
          name,
          known(question, entries.get(nameOf(question)) ?? {}),
        ]),
      ) as Known<Questions>
    },

    /**
     * The answer to a question: the kept one while it is fresh, else the upstream's, else the kept one, stale. Of all
     * who ask at once one asks the upstream. Throws the AppError of the failure where nothing is kept.
     */
    async through<T>(question: Question<T>, ask: () => Promise<T>): Promise<Aged<T>> {
      const name = nameOf(question)
      const giveUpAt = now() + LONGEST_WAIT_MS
      for (;;) {
        const entry = await table.get(name)
        const kept = known(question, entry)
        if (kept && !kept.isStale) return kept
        const failure = entry.failure && entry.failure.until > now() ? entry.failure : undefined
        if (!failure && (await table.takeRefresh(name, { now: now(), until: now() + LONGEST_REFRESH_MS }))) {
          try {
            return await refresh(question, ask)
          } catch (error) {
            if (!kept || !(error instanceof AppError)) throw error
            logger.warn('stale answer', { kind: question.kind.name, code: error.code })
            return kept
          }
        }
        if (kept) return kept
        if (failure) throw new AppError(failure.code, { cause: new Error('the refresh has just failed') })
        if (now() >= giveUpAt)
          throw new AppError('upstream_timeout', { cause: new Error('the refresh takes too long') })
        await sleep(LOOK_EVERY_MS)
      }
    },
  }
}
export type SharedCache = ReturnType<typeof sharedCache>

function nameOf({ kind, key }: Question<unknown>): string {
  return `${kind.name}#${key}`
}

function failureCode(code: string): FailureCode {
  return code === 'upstream_timeout' || code === 'upstream_unavailable' ? code : 'upstream_bad_answer'
}
