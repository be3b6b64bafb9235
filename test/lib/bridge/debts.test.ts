import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findRepayment, type OwedRefund } from '../../../lib/bridge/debts.ts'
import { sum } from '../../../lib/core/bigint.ts'
import { scaleSampleCount } from '../../support/runs.ts'

type Payment = { readonly at: Date; readonly amount: bigint }

const day = (days: number) => new Date(days * 86_400_000)
const owed = (deadline: number, amount: bigint): OwedRefund => ({ deadline: day(deadline), amount })
const paid = (at: number, amount: bigint): Payment => ({ at: day(at), amount })
const byTime = <T extends Payment>(payments: readonly T[]) =>
  payments.toSorted((left, right) => Number(left.at) - Number(right.at))

function subsetsOf<T>(items: readonly T[]): T[][] {
  const [first, ...rest] = items
  if (first === undefined) return [[]]
  const without = subsetsOf(rest)
  return [...without, ...without.map((subset) => [first, ...subset])]
}

function findBySubsets(debt: OwedRefund, others: readonly OwedRefund[], payments: readonly Payment[], dust: bigint) {
  let total = 0n
  for (const payment of payments) {
    const due = [debt, ...others].filter(({ deadline }) => deadline < payment.at)
    const all = sum(due.map(({ amount }) => amount))
    total = total + payment.amount > all ? all : total + payment.amount
    const fitting = subsetsOf(due).filter((subset) => {
      const difference = sum(subset.map(({ amount }) => amount)) - total
      return (difference < 0n ? -difference : difference) <= dust
    })
    const isInAll = fitting.length > 0 && fitting.every((subset) => subset.includes(debt))
    if (due.includes(debt) && (isInAll || (total === all && dust < debt.amount))) return payment
  }
  return undefined
}

describe('A debt is paid back', () => {
  test('by payments after its deadline that cover it and all other debts', () => {
    const [debt, older] = [owed(10, 100n), owed(5, 100n)]
    expect(findRepayment(debt, [], [paid(20, 100n)], 0n)).toEqual(paid(20, 100n))
    expect(findRepayment(debt, [], [paid(20, 60n), paid(30, 40n)], 0n)).toEqual(paid(30, 40n))
    expect(findRepayment(debt, [older], [paid(20, 100n)], 0n)).toBeUndefined()
    expect(findRepayment(debt, [older], [paid(8, 100n), paid(20, 100n)], 0n)).toEqual(paid(20, 100n))
    expect(findRepayment(debt, [older], [paid(20, 200n)], 0n)).toEqual(paid(20, 200n))
    expect(findRepayment(debt, [older], [paid(20, 500n)], 0n)).toEqual(paid(20, 500n))
  })

  test('by no payment before its deadline, and by none that is too small', () => {
    const debt = owed(10, 100n)
    expect(findRepayment(debt, [], [], 0n)).toBeUndefined()
    expect(findRepayment(debt, [], [paid(9, 100n), paid(10, 100n), paid(20, 99n)], 0n)).toBeUndefined()
  })

  test('not by a payment that may be an equal amount of dust', () => {
    expect(findRepayment(owed(10, 100n), [], [paid(20, 100n)], 99n)).toEqual(paid(20, 100n))
    expect(findRepayment(owed(10, 100n), [], [paid(20, 100n)], 100n)).toBeUndefined()
  })

  test('by a sum that matches no other debts', () => {
    const debt = owed(10, 100n)
    expect(findRepayment(debt, [owed(10, 70n)], [paid(20, 100n)], 0n)).toEqual(paid(20, 100n))
    expect(findRepayment(debt, [owed(10, 70n)], [paid(20, 70n)], 0n)).toBeUndefined()
    expect(findRepayment(debt, [owed(10, 70n), owed(10, 30n)], [paid(20, 100n)], 0n)).toBeUndefined()
    expect(findRepayment(debt, [owed(10, 70n), owed(10, 30n)], [paid(20, 130n)], 0n)).toEqual(paid(20, 130n))
    // A debt whose deadline has not passed is not due, so the payment cannot be for that debt.
    expect(findRepayment(debt, [owed(20, 100n)], [paid(20, 100n)], 0n)).toEqual(paid(20, 100n))
  })

  const anyAmount = fc.oneof(fc.bigInt(1n, 12n), fc.bigInt(1n, 1_000n))
  const anyDebt = fc.tuple(fc.integer({ min: 0, max: 10 }), anyAmount).map((debt) => owed(...debt))
  const anyPayment = fc.tuple(fc.integer({ min: 0, max: 14 }), anyAmount).map((payment) => paid(...payment))

  test('only if every matching subset of the due debts has it, or all are covered', () => {
    fc.assert(
      fc.property(
        anyDebt,
        fc.array(anyDebt, { maxLength: 7 }),
        fc.array(anyPayment, { maxLength: 6 }).map(byTime),
        fc.oneof(fc.constant(0n), fc.bigInt(0n, 20n)),
        (debt, others, payments, dust) => {
          expect(findRepayment(debt, others, payments, dust)).toBe(findBySubsets(debt, others, payments, dust))
        },
      ),
      { numRuns: scaleSampleCount(400) },
    )
  })

  test('only if the pool really paid it in any sums, and always once the pool paid all', () => {
    const anyDelay = fc.option(fc.integer({ min: 1, max: 8 }))
    const anyLarge = fc.record({ deadline: fc.integer({ min: 0, max: 6 }), amount: anyAmount, delay: anyDelay })
    const anyDust = fc.record({ at: fc.integer({ min: 1, max: 14 }), amount: fc.bigInt(1n, 300n) })
    const toPaid = ({ deadline, amount, delay }: { deadline: number; amount: bigint; delay: number | null }) =>
      delay === null ? [] : [{ at: deadline + delay, amount }]
    fc.assert(
      fc.property(
        anyLarge,
        fc.array(anyLarge, { maxLength: 7 }),
        fc.array(anyDust, { maxLength: 3 }),
        (own, others, dust) => {
          const parts = [...[own, ...others].flatMap(toPaid), ...dust]
          // The pool makes one payment to an account at one time, so debts that it pays at the same time are added.
          const sums = [...Map.groupBy(parts, ({ at }) => at)].map(([at, group]) =>
            paid(at, sum(group.map(({ amount }) => amount))),
          )
          const debts = others.map(({ deadline, amount }) => owed(deadline, amount))
          const total = sum(dust.map(({ amount }) => amount))
          const payment = findRepayment(owed(own.deadline, own.amount), debts, byTime(sums), total)
          const ownPaidAt = own.delay === null ? undefined : day(own.deadline + own.delay)
          if (payment) expect(ownPaidAt?.getTime()).toBeLessThanOrEqual(payment.at.getTime())
          const isAllPaid = [own, ...others].every(({ delay }) => delay !== null)
          if (isAllPaid && total === 0n) expect(payment).toBeDefined()
        },
      ),
      { numRuns: scaleSampleCount(400) },
    )
  })

  test('regardless of 21 debts of dust, each below a thousandth of it', () => {
    const debt = owed(10, 1_000_000n)
    const anyOther = fc
      .tuple(fc.integer({ min: 0, max: 10 }), fc.bigInt(1n, 30n))
      .map(([deadline, parts]) => owed(deadline, parts * 50_000n))
    const anySum = fc
      .tuple(fc.integer({ min: 0, max: 14 }), fc.bigInt(1n, 30n))
      .map(([at, parts]) => paid(at, parts * 50_000n))
    const dusty = fc.array(fc.bigInt(1n, 999n), { minLength: 21, maxLength: 21 })
    fc.assert(
      fc.property(
        fc.array(anyOther, { maxLength: 6 }),
        fc.array(anySum, { maxLength: 5 }).map(byTime),
        dusty,
        fc.nat(),
        (others, payments, dust, place) => {
          const without = findRepayment(debt, others, payments, 0n)
          expect(findRepayment(debt, others, payments, sum(dust))).toBe(without)
          // The pool now pays all tiny debts together with one of the payments. The time at which the large debt counts
          // as repaid must not change.
          const at = payments.length > 0 ? place % payments.length : 0
          const together = payments.map((payment, index) => ({
            ...payment,
            amount: payment.amount + (index === at ? sum(dust) : 0n),
          }))
          expect(findRepayment(debt, others, together, sum(dust))?.at).toEqual(without?.at)
        },
      ),
      { numRuns: scaleSampleCount(200) },
    )
  })

  test('never with too many debts to compare, unless all are covered', () => {
    const many = Array.from({ length: 40 }, (_, index) => owed(10, 10_000n + BigInt(7 * index * index)))
    const debt = owed(10, 10_001n)
    const all = sum([debt, ...many].map(({ amount }) => amount))
    expect(findRepayment(debt, many.slice(0, 4), [paid(20, debt.amount)], 0n)).toBeDefined()
    expect(findRepayment(debt, many, [paid(20, all / 2n)], 0n)).toBeUndefined()
    expect(findRepayment(debt, many, [paid(20, all / 2n), paid(21, all - all / 2n)], 0n)?.at).toEqual(paid(21, 1n).at)
  })
})
