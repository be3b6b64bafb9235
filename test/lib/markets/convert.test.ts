import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppError } from '../../../lib/core/errors.ts'
import { buildConversion, changeInPercent, priceBeforeChange } from '../../../lib/markets/convert.ts'
import type { ExchangeRate } from '../../../lib/markets/currency.ts'

/** Exact fraction of two integers. It shares no code with the tested module. */
type Fraction = readonly [top: bigint, bottom: bigint]

function parseFraction(number: number): Fraction {
  const [mantissa = '', exponent = '0'] = number.toString().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const power = Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  return power >= 0 ? [digits * 10n ** BigInt(power), 1n] : [digits, 10n ** BigInt(-power)]
}
const multiply = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * c, b * d]
const divide = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d, b * c]
const add = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d + c * b, b * d]

function nearest([top, bottom]: Fraction): number {
  return Number(`${(top * 10n ** 400n) / bottom}e-400`)
}

const HUNDRED: Fraction = [100n, 1n]
const price = fc.double({ min: 1e-15, max: 1e15, noNaN: true })
const rate = fc.double({ min: 1e-6, max: 1e6, noNaN: true })
const percent = fc.double({ min: -99.999, max: 1e6, noNaN: true })
const AS_OF = new Date(0)

function into(eur: ExchangeRate) {
  return buildConversion('eur', { value: { eur }, asOf: AS_OF, isStale: false })
}

describe('A conversion', () => {
  test('of an amount is the nearest number to the exact product', () => {
    fc.assert(
      fc.property(price, rate, (dollars, now) => {
        expect(into({ now }).amount(dollars)).toBe(nearest(multiply(parseFraction(dollars), parseFraction(now))))
      }),
    )
  })

  test('of a change values yesterday’s price at yesterday’s rate', () => {
    fc.assert(
      fc.property(percent, rate, rate, (change, now, dayAgo) => {
        const factor = divide(multiply(add(HUNDRED, signed(change)), parseFraction(now)), parseFraction(dayAgo))
        const exact = nearest(add(factor, [-100n, 1n]))
        expect(into({ now, dayAgo }).change(change)).toBeCloseTo(exact, 10 - Math.ceil(Math.log10(Math.abs(exact) + 1)))
      }),
    )
  })

  test('of a change is the change of the converted prices', () => {
    fc.assert(
      fc.property(price, price, rate, rate, (today, yesterday, now, dayAgo) => {
        fc.pre(today / yesterday < 1e6 && today / yesterday > 1e-6)
        const inEuros = into({ now, dayAgo }).change(changeInPercent(today, yesterday)) ?? Number.NaN
        const exact = nearest(
          divide(
            multiply(parseFraction(today), parseFraction(now)),
            multiply(parseFraction(yesterday), parseFraction(dayAgo)),
          ),
        )
        expect(inEuros / 100 + 1).toBeCloseTo(exact, 9 - Math.ceil(Math.log10(exact + 1)))
      }),
    )
  })

  test('leaves dollars unchanged without any rates', () => {
    const dollars = buildConversion('usd', undefined)
    fc.assert(
      fc.property(price, percent, (amount, change) => {
        expect([dollars.amount(amount), dollars.change(change)]).toEqual([amount, change])
      }),
    )
    expect(dollars.answers).toEqual([])
  })

  test('returns null for unknown values', () => {
    const conversion = into({ now: 0.9, dayAgo: 0.8 })
    expect([conversion.amount(null), conversion.change(null)]).toEqual([null, null])
    expect(into({ now: 0.9 }).change(1)).toBeNull()
    expect(into({ now: 0.9 }).amount(1)).toBe(0.9)
  })

  test('returns null instead of a number that JSON cannot represent', () => {
    expect(into({ now: 1e300 }).amount(1e300)).toBeNull()
    expect(into({ now: 1e300, dayAgo: 1e-300 }).change(1)).toBeNull()
  })

  test('into a currency without a rate throws', () => {
    const rates = { value: { gbp: { now: 0.8 } }, asOf: AS_OF, isStale: false }
    for (const ratesInput of [undefined, rates]) {
      expect(() => buildConversion('eur', ratesInput)).toThrow(new AppError('upstream_unavailable'))
    }
  })
})

describe('A change in percent', () => {
  test('is relative to the earlier price', () => {
    expect(changeInPercent(110, 100)).toBe(10)
    expect(changeInPercent(90, 100)).toBe(-10)
    expect(changeInPercent(0.3, 0.1)).toBe(200)
  })

  test('is null if the earlier price is unknown or zero', () => {
    expect(changeInPercent(1, null)).toBeNull()
    expect(changeInPercent(1, 0)).toBeNull()
  })

  test('determines the earlier price', () => {
    fc.assert(
      fc.property(price, percent, (now, change) => {
        const before = priceBeforeChange(now, change) ?? Number.NaN
        expect(before).toBe(nearest(divide(multiply(parseFraction(now), HUNDRED), add(HUNDRED, signed(change)))))
      }),
    )
    expect(priceBeforeChange(1, null)).toBeNull()
  })
})

function signed(number: number): Fraction {
  const [top, bottom] = parseFraction(Math.abs(number))
  return [number < 0 ? -top : top, bottom]
}
