import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { AppError } from '../../../lib/core/errors.ts'
import { FREE_PAYMENT } from '../../../lib/meter/meter.ts'
import { fetchPaid } from '../../../lib/portfolio/ask-each.ts'

const QUESTIONS = Array.from({ length: 20 }, (_, number) => ({ number, asOf: new Date(number) }))
const FREE = { unitsOf: () => 0, payFor: () => FREE_PAYMENT }

describe('Requests to an index', () => {
  test('are sent eight at a time, and a failure stops no other', async () => {
    let underWay = 0
    let most = 0
    const outcomes = await fetchPaid(QUESTIONS, FREE, async ({ number }) => {
      underWay += 1
      most = Math.max(most, underWay)
      await turn()
      underWay -= 1
      if (number === 3) throw new AppError('upstream_unavailable')
      return number
    })
    expect(most).toBe(8)
    expect(outcomes.filter(({ result }) => 'value' in result)).toHaveLength(19)
    expect(outcomes.find(({ number }) => number === 3)?.result).toMatchObject({
      error: { code: 'upstream_unavailable' },
    })
  })

  test('time out after seven seconds, and no more are sent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const numbers: number[] = []
    const outcomes = fetchPaid(QUESTIONS, FREE, ({ number }) => {
      numbers.push(number)
      return number === 0 ? Promise.resolve(number) : new Promise(() => {})
    })
    await turn()
    await vi.advanceTimersByTimeAsync(7_000)
    const results = (await outcomes).map(({ result }) => ('error' in result ? result.error.code : result.value))
    expect(results).toEqual([0, ...Array(19).fill('upstream_timeout')])
    expect(numbers).toHaveLength(9)
  })

  test('are paid for the oldest first, as far as the budget of the caller allows, until none is left', async () => {
    const last = new Map<number, Date>()
    const asked: number[] = []
    for (let minute = 1; minute <= 5; minute += 1) {
      let budget = 70
      const payFor = (units: number) => ({
        ...FREE_PAYMENT,
        pay: async () => {
          if (units > budget) throw new AppError('too_many_requests')
          budget -= units
        },
      })
      const questions = QUESTIONS.filter(({ number }) => !last.has(number)).map((one) => ({ ...one, asOf: undefined }))
      const outcomes = await fetchPaid(questions, { unitsOf: () => 10, payFor }, async ({ number }) => {
        asked.push(number)
        last.set(number, new Date(minute))
      })
      const unpaid = outcomes.filter(({ result }) => 'error' in result && result.error.code === 'too_many_requests')
      expect(outcomes).toHaveLength(questions.length)
      expect(unpaid).toHaveLength(QUESTIONS.length - last.size)
    }
    expect(asked).toEqual(QUESTIONS.map(({ number }) => number))
  })

  test('are paid for in the order of their last response, those without one first', async () => {
    const asked: number[] = []
    const payFor = (units: number) => ({
      ...FREE_PAYMENT,
      pay: async () => {
        if (units > 3) throw new AppError('too_many_requests')
      },
    })
    const ages = [5, undefined, 3, 4, undefined, 1]
    const questions = ages.map((age, number) => ({ number, asOf: age ? new Date(age) : undefined }))
    await fetchPaid(questions, { unitsOf: () => 1, payFor }, async ({ number }) => asked.push(number))
    expect(asked).toEqual([1, 4, 5])
  })
})
