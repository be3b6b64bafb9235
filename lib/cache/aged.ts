import type { Aged, Namespace } from './cache.ts'

/** A value that is made of answers: as old as the oldest of them, and stale when one of them is stale or missing. */
export function combine<T>(value: T, parts: readonly (Aged<unknown> | undefined)[], now: number): Aged<T> {
  return {
    value,
    asOf: new Date(Math.min(now, ...parts.flatMap((part) => (part ? [part.asOf.getTime()] : [])))),
    isStale: parts.some((part) => part === undefined || part.isStale),
  }
}

/** Whether an answer has been past its time for so long that it is not just being refreshed: its source is down. */
export function isOverdue(
  { asOf, isStale }: Aged<unknown>,
  { freshSeconds }: Namespace<unknown>,
  now: number,
): boolean {
  return isStale && now - asOf.getTime() > 2 * freshSeconds * 1000
}
