import { expect } from 'vitest'
import { clientBudgets } from '../../../lib/cache/budget.ts'
import { cacheStore } from '../../../lib/cache/store.ts'
import { test } from '../../support/dynamo.ts'

const LIMITS = { coingecko: 3, defillama: 3, goldrush: 3, das: 3 }

test('A question is counted, and refused beyond the limit', async ({ tables, requests }) => {
  const { count } = cacheStore(tables.cache)
  const budget = clientBudgets({ count, limits: LIMITS, now: Date.now })('das', 'acme')
  for (let asked = 0; asked < LIMITS.das; asked += 1) expect(await budget.take()).toBe(true)
  expect(budget.refusal()).toBeUndefined()
  expect(await budget.take()).toBe(false)
  expect(budget.refusal()).toMatchObject({
    code: 'too_many_requests',
    cause: { message: `client acme has asked das ${LIMITS.das} times in ten minutes` },
  })
  expect(requests.filter((request) => request === 'UpdateItem')).toHaveLength(LIMITS.das + 1)
})
