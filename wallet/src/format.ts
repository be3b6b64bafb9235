import { formatUnits } from 'viem'

/** The language of the pages, as Intl names it. */
export const LOCALE = 'en-US'

/** The smallest amount that is written out; below it stands `< 0.0001`. */
export const SMALLEST_AMOUNT = 0.0001

const AMOUNT = new Intl.NumberFormat(LOCALE, {
  maximumSignificantDigits: 6,
  maximumFractionDigits: 2,
  // Six digits of a small number, all digits of a large one.
  roundingPriority: 'morePrecision',
  // Never more than there is.
  roundingMode: 'trunc',
})

/** An amount for people: at most six significant digits, never rounded up. `units` are the token's smallest. */
export function formatAmount(units: bigint, decimals: number): string {
  const exact = formatUnits(units, decimals)
  const size = Math.abs(Number(exact))
  if (size > 0 && size < SMALLEST_AMOUNT) return `${units < 0n ? '> -' : '< '}${SMALLEST_AMOUNT}`
  // viem writes decimal text, which the type of numbers as text asks for.
  return AMOUNT.format(exact as `${number}`)
}

/** A number for people, of what is no amount: at most six significant digits. */
export function formatNumber(value: number): string {
  return AMOUNT.format(value)
}

/** An amount to its last digit, for a hover and for a form. */
export function formatExactly(units: bigint, decimals: number): string {
  return formatUnits(units, decimals)
}

/** The smallest units of an amount that somebody has typed; undefined for what is no amount, or has more digits than the token. */
export function parseAmount(text: string, decimals: number): bigint | undefined {
  // No comma: in one country it begins the decimals, in another it parts the thousands.
  const [, whole = '', fraction = ''] = /^(\d*)(?:\.(\d*))?$/.exec(text.trim()) ?? []
  if ((!whole && !fraction) || fraction.length > decimals) return undefined
  return BigInt(`${whole}${fraction.padEnd(decimals, '0')}`)
}

/** A sum in a currency: with two decimals, or three significant digits below a cent. */
export function formatMoney(value: number, currency: string): string {
  const isBelowCent = Math.abs(value) < 0.01 && value !== 0
  const digits = isBelowCent ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 2 }
  return new Intl.NumberFormat(LOCALE, { style: 'currency', currency, ...digits }).format(value)
}

/** A large sum in a currency, shortened: $1.2M. */
export function formatShortMoney(value: number, currency: string): string {
  return new Intl.NumberFormat(LOCALE, {
    ...{ style: 'currency', currency, notation: 'compact', maximumFractionDigits: 1 },
  }).format(value)
}

/** A large amount, shortened: 1.2M. */
export function formatShortAmount(units: bigint, decimals: number): string {
  return new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 }).format(
    // As in formatAmount.
    formatUnits(units, decimals) as `${number}`,
  )
}

/** A large number, shortened: 1.2M. */
export function formatShortNumber(value: number): string {
  return new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 }).format(value)
}

/** A change in percent with its sign. */
export function formatChange(percent: number): string {
  return `${new Intl.NumberFormat(LOCALE, { signDisplay: 'exceptZero', maximumFractionDigits: 2 }).format(percent)}%`
}

/** A date with its time, in the reader's own zone. */
export function formatTime(time: string | number): string {
  return new Date(time).toLocaleString(LOCALE, { dateStyle: 'medium', timeStyle: 'short' })
}

/** The time of a day, in the reader's own zone. */
export function formatClock(time: string | number): string {
  return new Date(time).toLocaleTimeString(LOCALE, { hour: '2-digit', minute: '2-digit' })
}

/** The hour of a day, as an axis has it. */
export function formatShortClock(time: number): string {
  return new Date(time).toLocaleTimeString(LOCALE, { hour: 'numeric' })
}

/** A day without its year. */
export function formatDay(time: string | number): string {
  return new Date(time).toLocaleDateString(LOCALE, { month: 'short', day: 'numeric' })
}

/** A month with its year. */
export function formatMonth(time: number): string {
  return new Date(time).toLocaleDateString(LOCALE, { month: 'short', year: 'numeric' })
}

const DAY_MS = 86_400_000

/** A duration in days, in whole ones. */
export function formatDays(days: number): string {
  return formatDuration(days * DAY_MS)
}

/** A duration: 45 s, 3 min, 2 h, 5 days. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 90) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 90) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 36 ? `${hours} h` : `${Math.round(hours / 24)} days`
}

/** An address or a hash, shortened. */
export function shorten(text: string): string {
  return text.length > 13 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text
}
