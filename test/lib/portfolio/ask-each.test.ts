import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { AppError } from '../../../lib/core/errors.ts'
import { fetchWithinDeadline } from '../../../lib/portfolio/ask-each.ts'

const QUESTIONS = Array.from({ length: 20 }, (_, number) => ({ number }))

describe('Requests to an index', () => {
  test('are sent eight at a time, and a failure stops no other', async () => {
    let underWay = 0
    let most = 0
    const outcomes = await fetchWithinDeadline(QUESTIONS, async ({ number }) => {
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
    const outcomes = fetchWithinDeadline(QUESTIONS, ({ number }) => {
      numbers.push(number)
      return number === 0 ? Promise.resolve(number) : new Promise(() => {})
    })
    await vi.advanceTimersByTimeAsync(7_000)
    const results = (await outcomes).map(({ result }) => ('error' in result ? result.error.code : result.value))
    expect(results).toEqual([0, ...Array(19).fill('upstream_timeout')])
    expect(numbers).toHaveLength(9)
  })
})
