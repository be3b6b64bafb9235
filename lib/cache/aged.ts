import type { Aged, Namespace } from './cache.ts'

/** Combines several cached responses into one value. It is as old as the oldest response, and stale if one is stale or missing. */
export function combineAges<T>(value: T, parts: readonly (Aged<unknown> | undefined)[], now: number): Aged<T> {
  return {
    value,
    asOf: new Date(Math.min(now, ...parts.flatMap((part) => (part ? [part.asOf.getTime()] : [])))),
    isStale: parts.some((part) => part === undefined || part.isStale),
  }
}

/** True if a cached response is older than twice its fresh time. The external service that it comes from is then probably down. */
export function isOverdue(
  { asOf, isStale }: Aged<unknown>,
  { freshSeconds }: Namespace<unknown>,
  now: number,
): boolean {
  return isStale && now - asOf.getTime() > 2 * freshSeconds * 1000
}
