import { expect, test } from 'vitest'
import { type Budget, clientBudgets } from '../../../lib/cache/budget.ts'
import { MINUTE_MS } from '../../../lib/time.ts'

/** The budgets of one question each, counted in memory, and their clock. */
function startBudgets() {
  const clock = { now: 0 }
  const counts = new Map<string, number>()
  const count = async (key: string, max: number) => {
    const counted = (counts.get(key) ?? 0) + 1
    counts.set(key, counted)
    return counted <= max
  }
  const limits = { coingecko: 1, defillama: 1, goldrush: 1, das: 1 }
  return { clock, budgets: clientBudgets({ count, limits, now: () => clock.now }) }
}

/** True if the budget allows the question. */
const isAsked = async (budget: Budget): Promise<boolean> => !budget.refusal() && (await budget.take())

test('A question beyond the budget is not asked', async () => {
  const { budgets } = startBudgets()
  const budget = budgets('das', 'acme')
  expect([await isAsked(budget), await isAsked(budget), await isAsked(budget)]).toEqual([true, false, false])
})

test('A client spends the questions of no other, and those of one service none of another', async () => {
  const { budgets } = startBudgets()
  expect(await isAsked(budgets('das', 'acme'))).toBe(true)
  expect(await isAsked(budgets('das', 'acme'))).toBe(false)
  expect(await isAsked(budgets('das', 'other'))).toBe(true)
  expect(await isAsked(budgets('goldrush', 'acme'))).toBe(true)
})

test('A client that has spent its questions asks again in the next ten minutes, which the refusal says', async () => {
  const { clock, budgets } = startBudgets()
  const budget = budgets('das', 'acme')
  expect([await isAsked(budget), await isAsked(budget)]).toEqual([true, false])
  clock.now = 10 * MINUTE_MS - 1_500
  expect(budget.refusal()).toMatchObject({ headers: { 'retry-after': '2' } })
  clock.now = 10 * MINUTE_MS
  expect(budget.refusal()).toBeUndefined()
  expect([await isAsked(budget), await isAsked(budget)]).toEqual([true, false])
})
