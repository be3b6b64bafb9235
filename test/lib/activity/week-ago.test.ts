import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseWeekAgo, YIELD_SECONDS } from '../../../lib/activity/yields.ts'

const NOW = 1_800_000_000n

const prices = fc.array(
  fc.record({
    price: fc.bigInt({ min: 1n, max: 10n ** 9n }),
    timestamp: fc.bigInt({ min: NOW - 3n * YIELD_SECONDS, max: NOW }),
  }),
)

test('A yield compares with the last price of a week before, else with the first, whichever part of the past is read first', () => {
  fc.assert(
    fc.property(prices, prices, (some, others) => {
      const known = chooseWeekAgo(some, NOW)
      const chosen = chooseWeekAgo([...(known ? [known] : []), ...others], NOW)
      const all = [...some, ...others].map(({ timestamp }) => timestamp).toSorted((left, right) => Number(left - right))
      expect(chosen?.timestamp).toBe(all.findLast((time) => time <= NOW - YIELD_SECONDS) ?? all[0])
    }),
  )
})
