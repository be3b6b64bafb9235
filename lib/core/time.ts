/** A minute, in seconds. */
export const MINUTE = 60
/** An hour, in seconds. */
export const HOUR = 60 * MINUTE
/** A day, in seconds. */
export const DAY = 24 * HOUR

/** An hour in seconds, as a bigint, because block timestamps are bigints. */
export const HOUR_SECONDS = 3_600n
/** A day in seconds, as a bigint, because block timestamps are bigints. */
export const DAY_SECONDS = 24n * HOUR_SECONDS

/** A minute, in milliseconds. */
export const MINUTE_MS = 1000 * MINUTE
/** An hour, in milliseconds. */
export const HOUR_MS = 1000 * HOUR
/** A day, in milliseconds. */
export const DAY_MS = 1000 * DAY

/** Last second of the year 9999, in seconds since 1970. JavaScript writes later years in another ISO 8601 form. */
export const LAST_SECOND = 253_402_300_799n

/** Converts seconds since 1970 to a Date. */
export function toDate(seconds: bigint): Date {
  return new Date(Number(seconds) * 1000)
}

/** Converts a Date to whole seconds since 1970. */
export function toSeconds(date: Date): bigint {
  return BigInt(Math.floor(date.getTime() / 1000))
}
