import { logger } from '../core/logger.ts'
import type { CacheKey } from './cache.ts'

/** Cached response as stored. `freshUntil` is in epoch milliseconds. */
export type CachedAnswer<T> = { readonly value: T; readonly asOf: Date; readonly freshUntil: number }

/** Cached responses by the names of their cache entries. Missing entries are left out. */
export type CachedAnswers = ReadonlyMap<string, CachedAnswer<unknown>>

/** Response in memory, or the running read that will return it. `until` is the time in epoch milliseconds from which it is read again. */
type RememberedAnswer = { readonly answer: Promise<CachedAnswer<unknown> | undefined>; readonly until: number }

/**
 * Creates a container's memory of cached responses, for namespaces with `rememberedSeconds`. API requests cannot add
 * keys to these namespaces, so the memory stays small. A missing response is not remembered, so it is read again each
 * time.
 */
export function cacheMemory({
  read,
  now,
}: {
  readonly read: (keys: readonly CacheKey<unknown>[]) => Promise<CachedAnswers>
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
}) {
  const memory = new Map<string, RememberedAnswer>()

  function remember(key: CacheKey<unknown>, seconds: number, pending: Promise<CachedAnswers>): void {
    const name = nameOf(key)
    const before = memory.get(name)
    const answer = pending.then(
      (answers) => answers.get(name),
      (error: unknown) => {
        if (!before) throw error
        logger.warn('remembered answer', { key: name, error })
        return before.answer
      },
    )
    const remembered = { answer, until: now() + seconds * 1000 }
    const forget = () => {
      if (memory.get(name) === remembered) memory.delete(name)
    }
    answer.then((found) => found ?? forget(), forget)
    memory.set(name, remembered)
  }

  return {
    /**
     * Returns the cached responses of these keys. Expired responses are read again in one read, which concurrent
     * callers share. If the read fails, the expired responses are used for another `rememberedSeconds`. Throws if the
     * read fails and a key has no response in memory.
     */
    async recall(keys: readonly CacheKey<unknown>[]): Promise<CachedAnswers> {
      const due = keys.filter((key) => (memory.get(nameOf(key))?.until ?? 0) <= now())
      const pending = read(due)
      for (const key of due) {
        const { rememberedSeconds } = key.namespace
        if (rememberedSeconds !== undefined) remember(key, rememberedSeconds, pending)
      }
      const recalled = keys.map(async (key): Promise<[string, CachedAnswer<unknown> | undefined]> => {
        const name = nameOf(key)
        const remembered = memory.get(name)
        return [name, remembered ? await remembered.answer : (await pending).get(name)]
      })
      return new Map((await Promise.all(recalled)).flatMap(([name, answer]) => (answer ? [[name, answer]] : [])))
    },

    replace(key: CacheKey<unknown>, answer: CachedAnswer<unknown>): void {
      const remembered = memory.get(nameOf(key))
      if (remembered) memory.set(nameOf(key), { ...remembered, answer: Promise.resolve(answer) })
    },
  }
}

/** Returns the name of a key's cache entry in the table. */
export function nameOf({ namespace, key }: CacheKey<unknown>): string {
  return `${namespace.name}#${key}`
}
