import fc from 'fast-check'
import { expect, test } from 'vitest'
import { computeDepositAmounts } from '../../../lib/prepare/deposit.ts'
import type { DepositTerms } from '../../../lib/protocols/protocol.ts'

const MAX = 2n ** 256n - 1n
const amount = fc.bigInt({ min: 1n, max: MAX })

function termsOf({ assets, supply, rate }: { assets: bigint; supply: bigint; rate: bigint }): DepositTerms {
  const sharesFor = (deposited: bigint) => (deposited * supply * (10_000n - rate)) / (assets * 10_000n)
  // The cast is safe, because the test calls only these two functions of the terms.
  return { sharesFor, worth: (shares: bigint) => (shares * assets) / supply } as DepositTerms
}

test('A deposit of any amount has figures that a contract can hold, or no shares', () => {
  const vault = fc.record({ assets: amount, supply: amount, rate: fc.bigInt({ min: 0n, max: 9_999n }) })
  fc.assert(
    fc.property(vault, amount, (facts, assets) => {
      const { shares, fee } = computeDepositAmounts(termsOf(facts), assets)
      expect(shares === null || shares <= MAX).toBe(true)
      expect(fee === null).toBe(shares === null)
      expect(fee ?? 0n).toBeLessThanOrEqual(assets)
    }),
  )
})

test('A fee of one percent is reported as such, and rounding is not a fee', () => {
  const vault = { assets: 3_000_000n, supply: 2_999_999n }
  expect(computeDepositAmounts(termsOf({ ...vault, rate: 0n }), 1_000_001n)).toMatchObject({
    fee: 0n,
    isEstimate: true,
  })
  const { fee } = computeDepositAmounts(termsOf({ ...vault, rate: 100n }), 1_000_000n)
  expect(Number(fee)).toBeCloseTo(10_000, -1)
  expect(computeDepositAmounts(termsOf({ ...vault, rate: 100n }), 1_000_000n, 989_999n)).toMatchObject({
    isEstimate: false,
  })
})
