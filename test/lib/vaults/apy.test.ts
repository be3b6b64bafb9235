import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildYields, formatAnnualYield } from '../../../lib/vaults/apy.ts'
import type { PricePoint } from '../../../lib/vaults/prices.ts'
import { NO_YIELDS } from '../../support/no-yields.ts'
import { scaleSampleCount } from '../../support/runs.ts'

const HOUR = 3_600n
const DAY = 86_400n
const START = 1_750_000_000n

const yieldsBetween = (first: PricePoint | undefined, last: PricePoint | undefined) => buildYields({ first }, last)
const textOf = (...points: Parameters<typeof yieldsBetween>) => formatAnnualYield(yieldsBetween(...points))
const from = (price: bigint): PricePoint => ({ price, timestamp: START })
const after = (seconds: bigint, price: bigint): PricePoint => ({ price, timestamp: START + seconds })

describe('The yield of exact prices:', () => {
  test.for([
    { growth: '1 % in a year', before: 1_000_000n, now: 1_010_000n, seconds: 365n * DAY, percent: '1.00' },
    { growth: 'nothing in a week', before: 1_234_567n, now: 1_234_567n, seconds: 7n * DAY, percent: '0.00' },
    { growth: '0.1 % in a week', before: 1_000_000n, now: 1_001_000n, seconds: 7n * DAY, percent: '5.35' },
    { growth: '0.1 % lost in a week', before: 1_000_000n, now: 999_000n, seconds: 7n * DAY, percent: '-5.08' },
    { growth: '2 % in a quarter of a year', before: 100n, now: 102n, seconds: (365n * DAY) / 4n, percent: '8.24' },
    { growth: 'a doubling in two years', before: 1n, now: 2n, seconds: 730n * DAY, percent: '41.42' },
    { growth: 'a halving in a year', before: 2n, now: 1n, seconds: 365n * DAY, percent: '-50.00' },
    { growth: 'the loss of everything', before: 1_000_000n, now: 0n, seconds: 7n * DAY, percent: '-100.00' },
    {
      growth: 'one part in 10^18 of a price of 18 decimals in a week',
      before: 10n ** 18n,
      now: 10n ** 18n + 1n,
      seconds: 7n * DAY,
      percent: '0.00',
    },
    {
      growth: '0.1 % in a week, of a price of 30 digits',
      before: 10n ** 30n,
      now: 1_001n * 10n ** 27n,
      seconds: 7n * DAY,
      percent: '5.35',
    },
  ])('a share price with $growth yields $percent percent a year', ({ before, now, seconds, percent }) => {
    expect(textOf(from(before), after(seconds, now))).toBe(percent)
  })
})

describe('A price without another one to compare:', () => {
  test.for([
    { without: 'an earlier price', before: undefined, now: after(7n * DAY, 1_000_000n) },
    { without: 'a present price', before: from(1_000_000n), now: undefined },
    { without: 'any price', before: undefined, now: undefined },
    { without: 'an earlier price above zero', before: from(0n), now: after(7n * DAY, 1_000_000n) },
    { without: 'an hour between the prices', before: from(1_000_000n), now: after(HOUR - 1n, 2_000_000n) },
    { without: 'time between the prices', before: from(1_000_000n), now: after(0n, 2_000_000n) },
    { without: 'time that goes forward', before: from(1_000_000n), now: after(-7n * DAY, 2_000_000n) },
  ])('without $without the yield is unknown, and shown as 0.00', ({ before, now }) => {
    expect(yieldsBetween(before, now)).toEqual(NO_YIELDS)
    expect(textOf(before, now)).toBe('0.00')
  })
})

describe('The growth of a vault with prices of less than seven days:', () => {
  test.for([
    { growth: '10 % in three days', now: 1_100_000n, seconds: 3n * DAY, percent: '10.00', days: 3 },
    { growth: '0.01 % in an hour', now: 1_000_100n, seconds: HOUR, percent: '0.01', days: 0.04 },
    {
      growth: '1 % lost in a second less than seven days',
      now: 990_000n,
      seconds: 7n * DAY - 1n,
      percent: '-1.00',
      days: 7,
    },
  ])(
    'a share price with $growth has a growth of $percent percent, and no yearly yield',
    ({ now, seconds, percent, days }) => {
      const yields = yieldsBetween(from(1_000_000n), after(seconds, now))
      const [start, end] = [START, START + seconds].map((time) => new Date(Number(time) * 1000))
      expect(yields).toEqual({ ...NO_YIELDS, growth: { percent, days, from: start, to: end } })
      expect(formatAnnualYield(yields)).toBe('0.00')
    },
  )
})

describe('The yield of any prices', () => {
  const anyPrice = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.bigInt({ min: 0n, max: 10n ** 7n }))
  const anySeconds = fc.bigInt({ min: 0n, max: 10n * 365n * DAY })

  test('is a number with two decimals', () => {
    fc.assert(
      fc.property(anyPrice, anyPrice, anySeconds, (before, now, seconds) => {
        const percent = textOf(from(before), after(seconds, now))
        expect(percent).toMatch(/^-?\d+\.\d{2}$/)
        expect(percent).not.toBe('-0.00')
        expect(Number(percent)).toBeGreaterThanOrEqual(-100)
      }),
      { numRuns: scaleSampleCount(2_000) },
    )
  })

  test('is 0.00 if the number would need an exponent', () => {
    // A growth to 350 % in seven days would be about 10^30 % per year. Numbers from 10^21 on would have an exponent.
    expect(textOf(from(1_000_000n), after(7n * DAY, 3_500_000n))).toBe('0.00')
    expect(textOf(from(1n), after(7n * DAY, 2n ** 255n))).toBe('0.00')
  })

  test('is 0.00 for a loss too small for two decimals', () => {
    expect(textOf(from(10n ** 12n), after(365n * DAY, 10n ** 12n - 1n))).toBe('0.00')
  })

  test('has the sign of the growth', () => {
    const price = fc.bigInt({ min: 1n, max: 10n ** 12n })
    fc.assert(
      fc.property(price, price, fc.bigInt({ min: 365n * DAY, max: 730n * DAY }), (before, now, seconds) => {
        const percent = Number(textOf(from(before), after(seconds, now)))
        if (now >= before) expect(percent).toBeGreaterThanOrEqual(0)
        else expect(percent).toBeLessThanOrEqual(0)
      }),
    )
  })

  test('never falls with a higher last price', () => {
    const before = 10n ** 18n
    const price = fc.bigInt({ min: before / 2n, max: before * 2n })
    fc.assert(
      fc.property(price, price, fc.bigInt({ min: 7n * DAY, max: 730n * DAY }), (one, other, seconds) => {
        const [lower, higher] = one < other ? [one, other] : [other, one]
        const getYield = (price: bigint) => Number(textOf(from(before), after(seconds, price)))
        expect(getYield(higher)).toBeGreaterThanOrEqual(getYield(lower))
      }),
    )
  })
})

test('A yield compares with the price of its own range, else with the first price if old enough', () => {
  const first = from(1_000_000n)
  const week = after(93n * DAY, 1_010_000n)
  const { annualYield, annualYields, growth } = buildYields({ first, '7d': week }, after(101n * DAY, 1_020_000n))
  expect(annualYield).toEqual(annualYields['7d'])
  expect([annualYields['7d']?.days, annualYields['30d']?.days, annualYields['90d']?.days]).toEqual([8, 101, 101])
  expect(growth).toBeNull()
  const young = buildYields({ first }, after(30n * DAY, 1_020_000n))
  expect(young.annualYields).toMatchObject({ '7d': { days: 30 }, '30d': { days: 30 }, '90d': null })
})
