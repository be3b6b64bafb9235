import type { Aged, CacheNamespace } from './cache.ts'

/**
 * Combines several cached responses into one value. The value is as old as the oldest response, and stale if a response
 * is stale or missing.
 */
export function combineAges<T>(value: T, parts: readonly (Aged<unknown> | undefined)[], now: number): Aged<T> {
  return {
    value,
    asOf: new Date(Math.min(now, ...parts.flatMap((part) => (part ? [part.asOf.getTime()] : [])))),
    isStale: parts.some((part) => part === undefined || part.isStale),
  }
}

/**
 * Returns true if a cached response is older than twice the time for which it is fresh. The external service that
 * supplies the data has then probably failed.
 */
export function isOverdue(
  { asOf, isStale }: Aged<unknown>,
  { freshSeconds }: CacheNamespace<unknown>,
  now: number,
): boolean {
  return isStale && now - asOf.getTime() > 2 * freshSeconds * 1000
}
