/** A minute, in seconds. */
export const MINUTE = 60
/** An hour, in seconds. */
export const HOUR = 60 * MINUTE
/** A day, in seconds. */
export const DAY = 24 * HOUR

/** An hour in seconds, as a bigint like block times. */
export const HOUR_SECONDS = 3_600n
/** A day in seconds, as a bigint like block times. */
export const DAY_SECONDS = 24n * HOUR_SECONDS

/** A minute, in milliseconds. */
export const MINUTE_MS = 1000 * MINUTE
/** An hour, in milliseconds. */
export const HOUR_MS = 1000 * HOUR
/** A day, in milliseconds. */
export const DAY_MS = 1000 * DAY

/** Last second of the year 9999, the last in ISO 8601, in seconds since 1970. */
export const LAST_SECOND = 253_402_300_799n

/** Returns the time this many seconds after 1970 began. */
export function toDate(seconds: bigint): Date {
  return new Date(Number(seconds) * 1000)
}

/** Returns a time in seconds since 1970. */
export function toSeconds(date: Date): bigint {
  return BigInt(Math.floor(date.getTime() / 1000))
}
