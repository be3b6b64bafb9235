import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatAmount, formatExactly, formatMoney, parseAmount } from '../../wallet/src/format.ts'

const decimals = fc.integer({ min: 0, max: 24 })
const units = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

describe('An amount', () => {
  test('that is written to its last digit is read as the same', () => {
    const isReadBack = fc.property(units, decimals, (amount, places) => {
      expect(parseAmount(formatExactly(amount, places), places)).toBe(amount)
    })
    fc.assert(isReadBack)
  })

  test.for([
    ['12.3456789', 12_345_678n],
    ['1234567.89', 1_234_567_890_000n],
  ] as const)('is never shown as more than it is: %s', ([, amount]) => {
    const shown = parseAmount(formatAmount(amount, 6).replaceAll(',', ''), 6)
    expect(shown).toBeLessThanOrEqual(amount)
  })

  test('that rounds to nothing is told from nothing', () => {
    expect(formatAmount(0n, 18)).toBe('0')
    expect(formatAmount(1n, 18)).toBe('< 0.0001')
    expect(formatAmount(-1n, 18)).toBe('> -0.0001')
  })

  test.for(['', '.', '1,000', '1,5', '1e5', '-1', '0x1', '1.0000001', '1 000', 'Infinity'])(
    'is not read where it can be meant in two ways, or is none: "%s"',
    (text) => {
      expect(parseAmount(text, 6)).toBeUndefined()
    },
  )

  test.for([
    ['1', 1_000_000n],
    [' 1. ', 1_000_000n],
    ['.5', 500_000n],
    ['007.000001', 7_000_001n],
  ] as const)('is read as it is typed: "%s"', ([text, amount]) => {
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
