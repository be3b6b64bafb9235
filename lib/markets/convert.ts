import type { Aged } from '../cache/cache.ts'
import { AppError } from '../errors.ts'
import type { Currency, ExchangeRate } from './currency.ts'
import { type Decimal, decimal, minus, over, times, toNumber } from './decimal.ts'

/** How dollars become a currency; what is unknown stays so, and what no JSON number can hold is unknown. */
export type Conversion = {
  /** An amount of US dollars in the currency. */
  readonly amount: (dollars: number | null) => number | null
  /** A change over a day in percent, of a price in US dollars, as one of the price in the currency. */
  readonly change: (percent: number | null) => number | null
  /** The answers that it rests on. */
  readonly answers: readonly Aged<unknown>[]
}

const HUNDRED = decimal(100)

/** How dollars become this currency by these rates. Throws `upstream_unavailable` when its rate is unknown. */
export function conversionInto(
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
    // (1 + c)·(rate now / rate a day ago) − 1, all of it in percent.
    change: (percent) =>
      percent === null || dayAgo === undefined
        ? null
        : finite(minus(over(times(plusHundred(percent), now), dayAgo), HUNDRED)),
    answers: [rates],
  }
}

/** By how many percent a price has changed; null when the one before is unknown or zero. */
export function changeInPercent(now: number, before: number | null): number | null {
  if (before === null || before === 0) return null
  return finite(minus(over(times(decimal(now), HUNDRED), decimal(before)), HUNDRED))
}

/** What a price was before it changed by so many percent; null when the change is unknown. */
export function beforeChange(now: number, percent: number | null): number | null {
  return percent === null ? null : finite(over(times(decimal(now), HUNDRED), plusHundred(percent)))
}

function plusHundred(percent: number): Decimal {
  return minus(HUNDRED, decimal(-percent))
}

function finite(value: Decimal): number | null {
  const number = toNumber(value)
  return Number.isFinite(number) ? number : null
}
