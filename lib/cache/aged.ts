import type { Aged, Namespace } from './cache.ts'

/** Returns a value combined from several answers. It is as old as the oldest, and stale if one of them is stale or missing. */
export function combineAges<T>(value: T, parts: readonly (Aged<unknown> | undefined)[], now: number): Aged<T> {
  return {
    value,
    asOf: new Date(Math.min(now, ...parts.flatMap((part) => (part ? [part.asOf.getTime()] : [])))),
    isStale: parts.some((part) => part === undefined || part.isStale),
  }
}

/** True if an answer is older than twice its fresh time: its source is down, and it is not just being refreshed. */
export function isOverdue(
  { asOf, isStale }: Aged<unknown>,
  { freshSeconds }: Namespace<unknown>,
  now: number,
): boolean {
  return isStale && now - asOf.getTime() > 2 * freshSeconds * 1000
}
