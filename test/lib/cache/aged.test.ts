import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { combineAges, isOverdue } from '../../../lib/cache/aged.ts'

const answer = (seconds: number, isStale = false) => ({ value: 'some', asOf: new Date(seconds * 1000), isStale })

describe('A value made of several responses', () => {
  test('is as old as the oldest, and has the current time without any', () => {
    expect(combineAges(7, [answer(50), answer(20), answer(30)], 60_000)).toEqual({ ...answer(20), value: 7 })
    expect(combineAges(7, [], 60_000)).toEqual({ ...answer(60), value: 7 })
  })

  test('is stale if one of them is stale or missing', () => {
    expect(combineAges(7, [answer(50), answer(20, true)], 60_000).isStale).toBe(true)
    expect(combineAges(7, [answer(50), undefined], 60_000)).toEqual({ ...answer(50, true), value: 7 })
  })
})

test('A response is overdue once it is stale for longer than it was fresh', () => {
  const kind = { name: 'some', schema: z.string(), freshSeconds: 60, keepSeconds: 600 }
  expect(isOverdue(answer(0, true), kind, 120_000)).toBe(false)
  expect(isOverdue(answer(0, true), kind, 120_001)).toBe(true)
  // A response that is not marked as stale is not overdue, even if it is older than `freshSeconds`.
  expect(isOverdue(answer(0), kind, 200_000)).toBe(false)
})
