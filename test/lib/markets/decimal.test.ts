import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Decimal,
  decimal,
  dividedBy,
  minus,
  times,
  toNumber,
  toWholeTokens,
} from '../../../lib/markets/decimal.ts'
import { scaleSampleCount } from '../../support/runs.ts'

/** Exact rational number. It shares no code with the tested module. */
type Rational = { readonly top: bigint; readonly bottom: bigint }

function rational({ digits, exponent }: Decimal): Rational {
  return exponent >= 0
    ? { top: digits * 10n ** BigInt(exponent), bottom: 1n }
    : { top: digits, bottom: 10n ** BigInt(-exponent) }
}

function sameAs(left: Rational, right: Rational): boolean {
  return left.top * right.bottom === right.top * left.bottom
}

function rationalOf(number: number): Rational {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, number)
  const bits = view.getBigUint64(0)
  const biased = Number((bits >> 52n) & 0x7ffn)
  const fraction = bits & 0xfffffffffffffn
  const mantissa = (biased === 0 ? fraction : fraction | 0x10000000000000n) * (bits >> 63n ? -1n : 1n)
  const power = Math.max(biased, 1) - 1075
  return power >= 0
    ? { top: mantissa * 2n ** BigInt(power), bottom: 1n }
    : { top: mantissa, bottom: 2n ** BigInt(-power) }
}

const distance = (left: Rational, right: Rational): Rational => {
  const top = left.top * right.bottom - right.top * left.bottom
  return { top: top < 0n ? -top : top, bottom: left.bottom * right.bottom }
}
const isAtMost = (left: Rational, right: Rational) => left.top * right.bottom <= right.top * left.bottom

function neighbour(number: number, step: 1n | -1n): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, number)
  view.setBigUint64(0, view.getBigUint64(0) + step)
  return view.getFloat64(0)
}

const anyNumber = fc.double({ noNaN: true, noDefaultInfinity: true })
const anyDecimal = fc.record({
  digits: fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
  exponent: fc.integer({ min: -60, max: 60 }),
})
const anyPrice = fc.oneof(
  fc.double({ min: 1e-18, max: 1e9, noNaN: true }),
  fc.integer({ min: 1, max: 10 ** 9 }).map((cents) => cents / 100),
)
const anyAmount = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.bigInt({ min: 0n, max: 10n ** 24n }))
const anyDecimals = fc.integer({ min: 0, max: 36 })

describe('A number', () => {
  test('survives the conversion to a decimal and back', () => {
    fc.assert(
      fc.property(anyNumber, (number) => {
        // A decimal has no negative zero.
        expect(toNumber(decimal(number))).toBe(number === 0 ? 0 : number)
      }),
      { numRuns: scaleSampleCount(2_000) },
    )
  })

  test.each([
    [0, 0n, 0],
    [-0, 0n, 0],
    [0.1, 1n, -1],
    [-1.25, -125n, -2],
    [1e21, 1n, 21],
    [1.5e-7, 15n, -8],
    [5e-324, 5n, -324],
    [Number.MAX_VALUE, 17976931348623157n, 292],
    ['0012.50', 1250n, -2],
    ['1E+3', 1n, 3],
  ])('becomes the decimal of its text: %s', (written, digits, exponent) => {
    expect(decimal(written)).toEqual({ digits, exponent })
  })

  test.each([
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    '',
    '.5',
    '5.',
    '1,000',
    '0x10',
    '1e',
    ' 1',
    '1\n',
    '+1',
    '--1',
    'e5',
  ])('is invalid if it is %j', (written) => {
    expect(() => decimal(written)).toThrow(RangeError)
  })

  test('is the nearest one to its decimal', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 60n }), fc.integer({ min: -70, max: 70 }), (digits, exponent) => {
        const exact = rational({ digits, exponent })
        const number = toNumber({ digits, exponent })
        const off = distance(rationalOf(number), exact)
        expect(isAtMost(off, distance(rationalOf(neighbour(number, 1n)), exact))).toBe(true)
        expect(isAtMost(off, distance(rationalOf(neighbour(number, -1n)), exact))).toBe(true)
      }),
    )
  })
})

describe('Arithmetic', () => {
  test('multiplies exactly', () => {
    fc.assert(
      fc.property(anyDecimal, anyDecimal, (left, right) => {
        const [l, r] = [rational(left), rational(right)]
        expect(sameAs(rational(times(left, right)), { top: l.top * r.top, bottom: l.bottom * r.bottom })).toBe(true)
      }),
    )
  })

  test('subtracts exactly', () => {
    fc.assert(
      fc.property(anyDecimal, anyDecimal, (left, right) => {
        const [l, r] = [rational(left), rational(right)]
        const difference = { top: l.top * r.bottom - r.top * l.bottom, bottom: l.bottom * r.bottom }
        expect(sameAs(rational(minus(left, right)), difference)).toBe(true)
      }),
    )
  })

  test('divides to forty digits, and never above the quotient', () => {
    fc.assert(
      fc.property(
        anyDecimal.filter(({ digits }) => digits > 0n),
        anyDecimal.filter(({ digits }) => digits > 0n),
        (left, right) => {
          const [l, r] = [rational(left), rational(right)]
          const exact = { top: l.top * r.bottom, bottom: l.bottom * r.top }
          const quotient = rational(dividedBy(left, right))
          expect(isAtMost(quotient, exact)).toBe(true)
          const share = { top: exact.top, bottom: exact.bottom * 10n ** 40n }
          expect(isAtMost(distance(quotient, exact), share)).toBe(true)
        },
      ),
    )
  })

  test('reverts a multiplication by a division', () => {
    fc.assert(
      fc.property(anyNumber, anyPrice, (number, price) => {
        const product = times(decimal(number), decimal(price))
        expect(toNumber(dividedBy(product, decimal(price)))).toBe(number === 0 ? 0 : number)
      }),
    )
  })

  test('does not divide by zero', () => {
    expect(() => dividedBy(decimal(1), decimal(0))).toThrow(RangeError)
    expect(() => dividedBy(decimal(0), { digits: 0n, exponent: 5 })).toThrow(RangeError)
    expect(toNumber(dividedBy(decimal(0), decimal(7)))).toBe(0)
  })
})

describe('Money', () => {
  test('is tokens times price, to the nearest number', () => {
    fc.assert(
      fc.property(anyAmount, anyDecimals, anyPrice, (amount, decimals, price) => {
        const worth = rational(times(toWholeTokens(amount, decimals), decimal(price)))
        const { top, bottom } = rational(decimal(price))
        expect(sameAs(worth, { top: amount * top, bottom: bottom * 10n ** BigInt(decimals) })).toBe(true)
        const number = toNumber(times(toWholeTokens(amount, decimals), decimal(price)))
        expect(Number.isFinite(number)).toBe(true)
        const off = distance(rationalOf(number), worth)
        // Rounding to 53 bits may change the value by at most half of the last bit.
        expect(isAtMost(off, { top: worth.top, bottom: worth.bottom * 2n ** 53n })).toBe(true)
      }),
    )
  })

  test.each([
    [1_000_000n, 6, 0.9997, 0.9997],
    [123_456_789_012_345_678_901n, 18, 3123.45, 385611.1076406111],
    [1n, 18, 3123.45, 3.12345e-15],
    [0n, 18, 3123.45, 0],
    [3n, 0, 0.1, 0.3],
    [2n ** 256n - 1n, 0, 1e9, 1.157920892373162e86],
  ])('of %s in units of 10^-%s at %s is worth %s', (amount, decimals, price, worth) => {
    expect(toNumber(times(toWholeTokens(amount, decimals), decimal(price)))).toBe(worth)
  })
})
