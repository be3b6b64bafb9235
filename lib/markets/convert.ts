import type { Aged } from '../cache/cache.ts'
import { AppError } from '../core/errors.ts'
import type { Currency, ExchangeRate } from './currency.ts'
import { type Decimal, decimal, dividedBy, minus, times, toNumber } from './decimal.ts'

/**
 * Functions that convert US dollars into one currency. They return null for an unknown value, or for a value too large
 * for a JSON number.
 */
export type Conversion = {
  readonly amount: (dollars: number | null) => number | null
  /** Converts a daily price change in percent: from the price in US dollars to the price in the currency. */
  readonly change: (percent: number | null) => number | null
  /** Cached exchange rates that the conversion uses, with their age. Empty for US dollars. */
  readonly answers: readonly Aged<unknown>[]
}

const HUNDRED = decimal(100)

/** Builds the conversion of US dollars into a currency. Throws `upstream_unavailable` if the exchange rate is unknown. */
export function buildConversion(
  currency: Currency,
  rates: Aged<Partial<Record<Currency, ExchangeRate>>> | undefined,
): Conversion {
  if (currency === 'usd') return { amount: (dollars) => dollars, change: (percent) => percent, answers: [] }
  const rate = rates?.value[currency]
  if (!rates || !rate) {
    throw new AppError('upstream_unavailable', { cause: new Error(`the rate of ${currency} is unknown`) })
  }
  const now = decimal(rate.now)
  const dayAgo = rate.dayAgo === undefined ? undefined : decimal(rate.dayAgo)
  return {
    amount: (dollars) => (dollars === null ? null : finite(times(decimal(dollars), now))),
    // The change in the currency is (1 + change in dollars) · (rate now / rate a day ago) − 1. The code computes it in
    // percent.
    change: (percent) =>
      percent === null || dayAgo === undefined
        ? null
        : finite(minus(dividedBy(times(plusHundred(percent), now), dayAgo), HUNDRED)),
    answers: [rates],
  }
}

/** Returns the change from the price `before` to `now` in percent; null if `before` is unknown or zero. */
export function changeInPercent(now: number, before: number | null): number | null {
  if (before === null || before === 0) return null
  return finite(minus(dividedBy(times(decimal(now), HUNDRED), decimal(before)), HUNDRED))
}

/** Returns the price before a change of `percent` led to `now`; null if the change is unknown. */
export function priceBeforeChange(now: number, percent: number | null): number | null {
  return percent === null ? null : finite(dividedBy(times(decimal(now), HUNDRED), plusHundred(percent)))
}

function plusHundred(percent: number): Decimal {
  return minus(HUNDRED, decimal(-percent))
}

function finite(value: Decimal): number | null {
  const number = toNumber(value)
  return Number.isFinite(number) ? number : null
}
