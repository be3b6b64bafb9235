import { formatUnits } from 'viem'

/** Language of the pages, as an Intl locale. */
export const LOCALE = 'en-US'

/** Maximum number of decimals of an amount from 1 up, by its size. An amount below 1 has four significant digits. */
const DECIMALS = [
  { below: 100n, decimals: 4 },
  { below: 1000n, decimals: 3 },
] as const
const MIN_DECIMALS = 2

/**
 * Formats an amount as the wallet shows it. `units` is the amount in the token's smallest unit. An amount from 1 up has at most four
 * decimals, from 100 up three, from 1,000 up two: 24.9999, 123.456, 1,234,567.89. Below 1 it has four significant digits: 0.0001234. Below
 * 0.0001 it is `< 0.0001`.
 * Extra digits are cut: 24.999999 USDC is 24.9999. Rounding, as in Uniswap, could show an amount that the user does not have.
 */
export function formatAmount(units: bigint, decimals: number): string {
  const size = units < 0n ? -units : units
  const one = 10n ** BigInt(decimals)
  if (isBelowSmallest(size, decimals)) return size === 0n ? '0' : `${units < 0n ? '> -' : '< '}0.0001`
  const places = DECIMALS.find(({ below }) => size < below * one)?.decimals ?? MIN_DECIMALS
  const digits = size < one ? { maximumSignificantDigits: 4 } : { maximumFractionDigits: places }
  return new Intl.NumberFormat(LOCALE, { ...digits, roundingMode: 'trunc' }).format(asText(units, decimals))
}

/** Returns true if an amount is below 0.0001 tokens, the smallest amount that `formatAmount` writes out. */
export function isBelowSmallest(units: bigint, decimals: number): boolean {
  return (units < 0n ? -units : units) * 10_000n < 10n ** BigInt(decimals)
}

function asText(units: bigint, decimals: number): `${number}` {
  // The cast is safe because viem formats amounts as decimal text.
  return formatUnits(units, decimals) as `${number}`
}

const NUMBER = new Intl.NumberFormat(LOCALE, {
  maximumSignificantDigits: 6,
  maximumFractionDigits: 2,
  // Small numbers keep six significant digits. Large numbers keep all digits before the decimal point.
  roundingPriority: 'morePrecision',
})

/** Formats a plain number, not an amount of a token, with at most six significant digits. */
export function formatNumber(value: number): string {
  return NUMBER.format(value)
}

/** Formats all digits of an amount for a form field. */
export function formatExactAmount(units: bigint, decimals: number): string {
  return formatUnits(units, decimals)
}

/** Formats all digits of an amount with grouped thousands. */
export function formatGroupedAmount(units: bigint, decimals: number): string {
  return new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 100 }).format(asText(units, decimals))
}

/**
 * Parses a typed amount into the token's smallest units, zero included. Returns undefined for text that is no amount, and for more decimals
 * than the token has.
 */
export function parseAmount(text: string, decimals: number): bigint | undefined {
  // A comma is refused: it separates decimals in some countries and thousands in others.
  const [, whole = '', fraction = ''] = /^(\d*)(?:\.(\d*))?$/.exec(text.trim()) ?? []
  if ((!whole && !fraction) || fraction.length > decimals) return undefined
  return BigInt(`${whole}${fraction.padEnd(decimals, '0')}`)
}

/** Formats a sum in a currency: with two decimals, or three significant digits below a cent. */
export function formatMoney(value: number, currency: string): string {
  const isBelowCent = Math.abs(value) < 0.01 && value !== 0
  const digits = isBelowCent ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 2 }
  return new Intl.NumberFormat(LOCALE, { style: 'currency', currency, ...digits }).format(value)
}

/** Formats a large sum in a currency, shortened: $1.2M. A sum below 1,000 is written out. */
export function formatShortMoney(value: number, currency: string): string {
  if (Math.abs(value) < 1000) return formatMoney(value, currency)
  return new Intl.NumberFormat(LOCALE, {
    ...{ style: 'currency', currency, notation: 'compact', maximumFractionDigits: 1 },
    // The sum is cut, not rounded, like the token amount that pages show beside it.
    roundingMode: 'trunc',
  }).format(value)
}

/** Formats a large amount, shortened and cut: 1.2M. */
export function formatShortAmount(units: bigint, decimals: number): string {
  return new Intl.NumberFormat(LOCALE, {
    ...{ notation: 'compact', maximumFractionDigits: 1, roundingMode: 'trunc' },
  }).format(asText(units, decimals))
}

/** Formats a large number, shortened: 1.2M. */
export function formatShortNumber(value: number): string {
  return new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 }).format(value)
}

/** Formats the size of a change in percent without its sign, because an arrow beside it shows the direction. */
export function formatChange(percent: number): string {
  return `${new Intl.NumberFormat(LOCALE, { signDisplay: 'never', maximumFractionDigits: 2 }).format(percent)}%`
}

/** Formats a date with its time, in the reader's time zone. */
export function formatDateTime(time: string | number): string {
  return new Date(time).toLocaleString(LOCALE, { dateStyle: 'medium', timeStyle: 'short' })
}

/** Formats the time of day, in the reader's time zone. */
export function formatClock(time: string | number): string {
  return new Date(time).toLocaleTimeString(LOCALE, { hour: 'numeric', minute: '2-digit' })
}

/** Formats an hour without minutes, for the axis of a chart. */
export function formatHour(time: number): string {
  return new Date(time).toLocaleTimeString(LOCALE, { hour: 'numeric' })
}

/** Formats a day without its year. */
export function formatDay(time: string | number): string {
  return new Date(time).toLocaleDateString(LOCALE, { month: 'short', day: 'numeric' })
}

/** Formats a day with its year. */
export function formatDate(time: string | number): string {
  return new Date(time).toLocaleDateString(LOCALE, { dateStyle: 'medium' })
}

/** Returns a day's name: Today, Yesterday, or its date, with the year if it is not this year. */
export function formatDayName(time: string | number, now: number): string {
  const [day, today] = [new Date(time), new Date(now)]
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1)
  if (day.toDateString() === today.toDateString()) return 'Today'
  if (day.toDateString() === yesterday.toDateString()) return 'Yesterday'
  const year = day.getFullYear() === today.getFullYear() ? {} : ({ year: 'numeric' } as const)
  return day.toLocaleDateString(LOCALE, { month: 'short', day: 'numeric', ...year })
}

/** Formats a month with its year. */
export function formatMonth(time: number): string {
  return new Date(time).toLocaleDateString(LOCALE, { month: 'short', year: 'numeric' })
}

const DAY_MS = 86_400_000

/** Formats a duration that is given in days, as `formatDuration` does. */
export function formatDays(days: number): string {
  return formatDuration(days * DAY_MS)
}

/** Formats a duration: 45 s, 3 min, 2 h, 5 days. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 90) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 90) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 36 ? `${hours} h` : `${Math.round(hours / 24)} days`
}

/** Adds a number to equal names after the first: "Phantom", "Phantom (2)". The order stays the same. */
export function numberDuplicates(names: readonly string[]): string[] {
  return names.map((name, index) => {
    const before = names.slice(0, index).filter((other) => other === name).length
    return before === 0 ? name : `${name} (${before + 1})`
  })
}

/** Shortens an address or a hash to its first and last characters. */
export function shorten(text: string): string {
  return text.length > 13 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text
}
