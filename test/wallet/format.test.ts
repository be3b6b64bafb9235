import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  formatAmount,
  formatChange,
  formatExactAmount,
  formatGroupedAmount,
  formatMoney,
  formatShortAmount,
  formatShortMoney,
  numberDuplicates,
  parseAmount,
} from '../../wallet/src/format.ts'

const decimals = fc.integer({ min: 0, max: 24 })
const units = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

describe('An amount', () => {
  test('that is written to its last digit is read as the same amount', () => {
    const isReadBack = fc.property(units, decimals, (amount, places) => {
      expect(parseAmount(formatExactAmount(amount, places), places)).toBe(amount)
    })
    fc.assert(isReadBack)
  })

  const shownUnits = (text: string, places: number) => parseAmount(text.replaceAll(',', ''), places)

  test('is never shown as more than it is', () => {
    const isNeverAbove = fc.property(units, decimals, (amount, places) => {
      const text = formatAmount(amount, places)
      fc.pre(text !== '< 0.0001')
      expect(shownUnits(text, places)).toBeLessThanOrEqual(amount)
    })
    fc.assert(isNeverAbove)
  })

  test('is shown as no less than a smaller one', () => {
    const atLeast = (text: string, places: number) => (text === '< 0.0001' ? 0n : (shownUnits(text, places) ?? -1n))
    const isMonotone = fc.property(units, units, decimals, (left, right, places) => {
      const [less, more] = left < right ? [left, right] : [right, left]
      expect(atLeast(formatAmount(less, places), places)).toBeLessThanOrEqual(
        atLeast(formatAmount(more, places), places),
      )
    })
    // Random amounts rarely hit a power of ten. The formatter may change the number of digits there, so these amounts
    // are tested separately.
    const edges = fc.property(fc.integer({ min: 0, max: 30 }), decimals, (power, places) => {
      const edge = 10n ** BigInt(power)
      expect(atLeast(formatAmount(edge - 1n, places), places)).toBeLessThanOrEqual(
        atLeast(formatAmount(edge, places), places),
      )
    })
    fc.assert(isMonotone)
    fc.assert(edges)
  })

  test('has at most six significant digits or two decimals, and never more than four decimals from 1 up', () => {
    const isShort = fc.property(units, decimals, (amount, places) => {
      const [whole = '', fraction = ''] = formatAmount(amount, places).replaceAll(',', '').split('.')
      if (whole === '0' || whole === '< 0') expect(fraction.replace(/^0+/, '').length).toBeLessThanOrEqual(4)
      else expect(fraction.length).toBeLessThanOrEqual(Math.min(4, Math.max(2, 6 - whole.length)))
    })
    fc.assert(isShort)
  })

  test('that is read from its shown text has the same text', () => {
    const isStable = fc.property(units, decimals, (amount, places) => {
      const text = formatAmount(amount, places)
      fc.pre(text !== '< 0.0001')
      expect(formatAmount(shownUnits(text, places) ?? -1n, places)).toBe(text)
    })
    fc.assert(isStable)
  })

  test('that is negative has the same digits after its sign', () => {
    const isSymmetric = fc.property(units, decimals, (amount, places) => {
      const text = formatAmount(amount, places)
      fc.pre(amount > 0n && text !== '< 0.0001')
      expect(formatAmount(-amount, places)).toBe(`-${text}`)
    })
    fc.assert(isSymmetric)
  })

  test.for([
    ['24.9999', 24_999_999n],
    ['25', 25_000_000n],
    ['7.9999', 7_999_999n],
    ['123.456', 123_456_789n],
    ['1,234,567.89', 1_234_567_899_999n],
    ['0.4612', 461_299n],
    ['0.0001', 100n],
  ] as const)('is cut by one rule: %s', ([text, amount]) => {
    expect(formatAmount(amount, 6)).toBe(text)
  })

  test('can be written to its last digit', () => {
    expect(formatGroupedAmount(1_234_567_899_999n, 6)).toBe('1,234,567.899999')
    expect(formatGroupedAmount(1n, 24)).toBe('0.000000000000000000000001')
    expect(formatGroupedAmount(-(2n ** 200n), 18)).toBe(
      '-1,606,938,044,258,990,275,541,962,092,341,162,602,522,202.993782792835301376',
    )
  })

  test('that is shortened is rounded down, too', () => {
    expect(formatShortAmount(261_390_000_000n, 6)).toBe('261.3K')
    expect(formatShortAmount(999_999_000_000n, 6)).toBe('999.9K')
  })

  test('that rounds to zero differs from zero', () => {
    expect(formatAmount(0n, 18)).toBe('0')
    expect(formatAmount(1n, 18)).toBe('< 0.0001')
    expect(formatAmount(-1n, 18)).toBe('> -0.0001')
  })

  test.for(['', '.', '1,000', '1,5', '1e5', '-1', '0x1', '1.0000001', '1 000', 'Infinity'])(
    'is not read if it is ambiguous or not a number: "%s"',
    (text) => {
      expect(parseAmount(text, 6)).toBeUndefined()
    },
  )

  test.for([
    ['1', 1_000_000n],
    [' 1. ', 1_000_000n],
    ['.5', 500_000n],
    ['007.000001', 7_000_001n],
  ] as const)('is read from its usual forms: "%s"', ([text, amount]) => {
    expect(parseAmount(text, 6)).toBe(amount)
  })
})

test.for([
  [0, '$0.00'],
  [0.4612, '$0.46'],
  [0.99996, '$1.00'],
  [1234.5, '$1,234.50'],
  [0.0012345, '$0.00123'],
  [-0.4612, '-$0.46'],
] as const)('A sum has two decimals, and three digits below a cent: %s', ([value, text]) => {
  expect(formatMoney(value, 'usd')).toBe(text)
})

test('Wallets with the same name are numbered from the second on', () => {
  expect(numberDuplicates(['Phantom', 'Rabby', 'Phantom', 'Phantom'])).toEqual([
    'Phantom',
    'Rabby',
    'Phantom (2)',
    'Phantom (3)',
  ])
})

test.for([
  [0, '$0.00'],
  [750.1, '$750.10'],
  [1250, '$1.2K'],
  [1_890_000, '$1.8M'],
] as const)('A short sum is shortened from 1,000 up: %s', ([value, text]) => {
  expect(formatShortMoney(value, 'usd')).toBe(text)
})

test('A change has an arrow instead of a sign', () => {
  expect([-0.2, 0, 1.234].map(formatChange)).toEqual(['0.2%', '0%', '1.23%'])
})
