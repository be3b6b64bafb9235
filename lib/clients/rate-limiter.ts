import { AppError } from '../errors.ts'
import { logger } from '../logger.ts'
import type { Rate } from './key-limits.ts'
import type { LeasesStore } from './leases-store.ts'

/** Which key of which client makes a request, and how many it may make. */
type Requester = { readonly clientId: string; readonly keyId: string; readonly rate: Rate }

/** The headers that tell where a key stands (draft-ietf-httpapi-ratelimit-headers-11). */
export type RateLimitHeaders = Readonly<Record<string, string>>

/** Lets a request of a key through, or throws `rate_limit_exceeded`. */
export type Admit = (requester: Requester) => Promise<RateLimitHeaders>

/** A window of a key as this container knows it. */
type Window = {
  readonly rate: Rate
  /** Epoch milliseconds. */
  readonly end: number
  /** How many this container has let through. */
  admitted: number
  /** What is left of its lease. */
  leased: number
  /** How many it takes at a time at most: fewer where so many were not left. */
  most: number
  /** What nobody had taken when the table was last asked; undefined before. */
  untaken?: number
  taking?: Promise<void>
}

type Dependencies = {
  readonly take: LeasesStore['take']
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** How long requests are not counted after the table could not be reached. */
const UNCOUNTED_MS = 5000

/**
 * Returns a function that counts the requests of keys, in windows that begin at the same moment everywhere. A container takes
 * as many at a time out of the table as it has let through, a thousandth of a window's at least and a hundredth at most, and
 * spends them by itself: all containers together never let more through than the limit, and at most the rest of each one's
 * lease is lost. Requests go through uncounted while the table cannot be reached.
 */
export function rateLimiter({ take, now }: Dependencies): Admit {
  /** The present window of each key that was used here: keys that an operator has issued, so that nobody can fill this. */
  const windows = new Map<string, Window>()
  let countedFrom = 0

  function findWindow(name: string, rate: Rate): Window {
    const length = rate.seconds * 1000
    const end = (Math.floor(now() / length) + 1) * length
    const known = windows.get(name)
    if (known?.end === end && known.rate.requests === rate.requests) return known
    const most = Math.max(1, Math.floor(rate.requests / 100))
    const window = { rate, end, admitted: 0, leased: 0, most }
    windows.set(name, window)
    return window
  }

  async function lease(name: string, window: Window): Promise<void> {
    const { rate, end } = window
    const first = Math.max(1, Math.floor(rate.requests / 1000))
    const size = Math.min(Math.max(first, window.admitted), window.most)
    try {
      // Kept for one window more: clocks differ.
      const until = new Date(end + rate.seconds * 1000)
      const taken = await take(`${name}#${end}`, { size, limit: rate.requests, until })
      if (taken === null && size > 1) {
        window.most = Math.floor(size / 2)
        return
      }
      window.untaken = taken === null ? 0 : rate.requests - taken
      if (taken !== null) window.leased += size
    } catch (error) {
      countedFrom = now() + UNCOUNTED_MS
      logger.warn('requests are not counted', { error })
    }
  }

  return async ({ clientId, keyId, rate }) => {
    const name = `${clientId}#${keyId}`
    for (;;) {
      const window = findWindow(name, rate)
      const seconds = Math.max(1, Math.ceil((window.end - now()) / 1000))
      if (window.leased > 0) {
        window.leased -= 1
        window.admitted += 1
        return headersFor(rate, { remaining: window.leased + (window.untaken ?? 0), seconds })
      }
      if (window.untaken === 0) {
        const headers = { ...headersFor(rate, { remaining: 0, seconds }), 'retry-after': seconds.toString() }
        throw new AppError('rate_limit_exceeded', { headers })
      }
      if (now() < countedFrom) return headersFor(rate)
      window.taking ??= lease(name, window).finally(() => delete window.taking)
      await window.taking
    }
  }
}

function headersFor(
  { requests, seconds: window }: Rate,
  standing?: { readonly remaining: number; readonly seconds: number },
): RateLimitHeaders {
  return {
    'ratelimit-policy': `"key";q=${requests};w=${window}`,
    ...(standing && { ratelimit: `"key";r=${standing.remaining};t=${standing.seconds}` }),
  }
}
