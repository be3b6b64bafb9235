import { formatUnits } from 'viem'

/** The language of the pages, as Intl names it. */
export const LOCALE = 'en-US'

/** Decimals of an amount from 1 up, by its size. Below 1 it has four significant digits. */
const DECIMALS = [
  { below: 100n, decimals: 4 },
  { below: 1000n, decimals: 3 },
] as const
const MIN_DECIMALS = 2

/**
 * The one way in which the wallet writes an amount. `units` are the token's smallest.
 *
 * * It is cut, never rounded up: the user holds and gets at least what is shown. 24.999999 USDC is 24.9999, not 25.
 * * It has six significant digits, but at most four decimals and at least two: 24.9999, 123.456, 1,234,567.89.
 * * Below 1 it has four significant digits: 0.0001234. Below 0.0001 it is `< 0.0001`.
 *
 * Uniswap writes balances like this, but rounds them to the nearest. A user could then type an amount that they do not have.
 */
export function formatAmount(units: bigint, decimals: number): string {
  const size = units < 0n ? -units : units
  const one = 10n ** BigInt(decimals)
  if (isBelowSmallest(size, decimals)) return size === 0n ? '0' : `${units < 0n ? '> -' : '< '}0.0001`
  const places = DECIMALS.find(({ below }) => size < below * one)?.decimals ?? MIN_DECIMALS
  const digits = size < one ? { maximumSignificantDigits: 4 } : { maximumFractionDigits: places }
  return new Intl.NumberFormat(LOCALE, { ...digits, roundingMode: 'trunc' }).format(asText(units, decimals))
}

/** True if an amount is too small to be written out. */
export function isBelowSmallest(units: bigint, decimals: number): boolean {
  return (units < 0n ? -units : units) * 10_000n < 10n ** BigInt(decimals)
}

function asText(units: bigint, decimals: number): `${number}` {
  // viem writes decimal text, which the type of numbers as text asks for.
  return formatUnits(units, decimals) as `${number}`
}

const NUMBER = new Intl.NumberFormat(LOCALE, {
  maximumSignificantDigits: 6,
  maximumFractionDigits: 2,
  // Six digits of a small number, all digits of a large one.
  roundingPriority: 'morePrecision',
})

/** A number for people, of what is no amount: at most six significant digits. */
export function formatNumber(value: number): string {
  return NUMBER.format(value)
}

/** An amount to its last digit, as a form takes it. */
export function formatExactly(units: bigint, decimals: number): string {
  return formatUnits(units, decimals)
}

/** An amount to its last digit, for people. */
export function formatWhole(units: bigint, decimals: number): string {
  return new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 100 }).format(asText(units, decimals))
}

/** The smallest units of a typed amount, zero included. Undefined for no amount, and for more decimals than the token has. */
export function parseAmount(text: string, decimals: number): bigint | undefined {
  // A comma begins the decimals in one country and groups thousands in another.
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

/** A large sum in a currency, shortened: $1.2M. Below 1,000 it is written out. */
export function formatShortMoney(value: number, currency: string): string {
  if (Math.abs(value) < 1000) return formatMoney(value, currency)
  return new Intl.NumberFormat(LOCALE, {
    ...{ style: 'currency', currency, notation: 'compact', maximumFractionDigits: 1 },
    // As the amount beside it: 1.89M DAI and $1.8M.
    roundingMode: 'trunc',
  }).format(value)
}

/** A large amount, shortened and cut: 1.2M. */
export function formatShortAmount(units: bigint, decimals: number): string {
  return new Intl.NumberFormat(LOCALE, {
    ...{ notation: 'compact', maximumFractionDigits: 1, roundingMode: 'trunc' },
  }).format(asText(units, decimals))
}

/** A large number, shortened: 1.2M. */
export function formatShortNumber(value: number): string {
  return new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 }).format(value)
}

/** A change in percent without its sign, for beside an arrow. */
export function formatChange(percent: number): string {
  return `${new Intl.NumberFormat(LOCALE, { signDisplay: 'never', maximumFractionDigits: 2 }).format(percent)}%`
}

/** A date with its time, in the reader's own zone. */
export function formatTime(time: string | number): string {
  return new Date(time).toLocaleString(LOCALE, { dateStyle: 'medium', timeStyle: 'short' })
}

/** The time of a day, in the reader's own zone. */
export function formatClock(time: string | number): string {
  return new Date(time).toLocaleTimeString(LOCALE, { hour: 'numeric', minute: '2-digit' })
}

/** The hour of a day, as an axis has it. */
export function formatShortClock(time: number): string {
  return new Date(time).toLocaleTimeString(LOCALE, { hour: 'numeric' })
}

/** A day without its year. */
export function formatDay(time: string | number): string {
  return new Date(time).toLocaleDateString(LOCALE, { month: 'short', day: 'numeric' })
}

/** A day with its year. */
export function formatDate(time: string | number): string {
  return new Date(time).toLocaleDateString(LOCALE, { dateStyle: 'medium' })
}

/** A day by its name: Today, Yesterday, or its date with the year if that is another. */
export function formatDayName(time: string | number, now: number): string {
  const [day, today] = [new Date(time), new Date(now)]
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1)
  if (day.toDateString() === today.toDateString()) return 'Today'
  if (day.toDateString() === yesterday.toDateString()) return 'Yesterday'
  const year = day.getFullYear() === today.getFullYear() ? {} : ({ year: 'numeric' } as const)
  return day.toLocaleDateString(LOCALE, { month: 'short', day: 'numeric', ...year })
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

/** Names in the same order, each after its first use with a number: "Phantom", "Phantom (2)". */
export function numberTwins(names: readonly string[]): string[] {
  return names.map((name, index) => {
    const before = names.slice(0, index).filter((other) => other === name).length
    return before === 0 ? name : `${name} (${before + 1})`
  })
}

/** An address or a hash, shortened. */
export function shorten(text: string): string {
  return text.length > 13 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text
}
