import * as z from 'zod'
import { MAX_RETRY_AFTER_SECONDS, type Pause } from '../core/http.ts'
import type { CacheNamespace, SharedCache } from './cache.ts'

/** Cache namespace of the times until which requests to external services pause, in epoch milliseconds. */
const PAUSES: CacheNamespace<number> = {
  name: 'pause',
  schema: z.number(),
  freshSeconds: MAX_RETRY_AFTER_SECONDS,
  keepSeconds: MAX_RETRY_AFTER_SECONDS,
}
/** Milliseconds between two reads of the cached pause by one container. Another container may have begun a pause meanwhile. */
const READ_EVERY_MS = 1_000

/**
 * Returns an object that begins and reads the pause of requests to the external service with this name. All containers
 * share the pause. Each container reads it at most once a second.
 */
export function sharedPause(
  {
    cache,
    now,
  }: {
    readonly cache: Pick<SharedCache, 'get' | 'put'>
    /** Returns the current time in epoch milliseconds. */
    readonly now: () => number
  },
  service: string,
): Pause {
  const pause = { namespace: PAUSES, key: service }
  const readEnd = async () => (await cache.get({ pause })).pause?.value ?? 0
  let sample = { at: Number.NEGATIVE_INFINITY, end: Promise.resolve(0) }
  return {
    async secondsLeft() {
      if (now() - sample.at >= READ_EVERY_MS) sample = { at: now(), end: readEnd() }
      return Math.max(0, Math.ceil(((await sample.end) - now()) / 1000))
    },
    async begin(seconds) {
      const end = now() + seconds * 1000
      sample = { at: now(), end: Promise.resolve(end) }
      await cache.put(pause, end)
    },
  }
}
