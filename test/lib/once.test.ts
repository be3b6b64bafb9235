import { describe, expect, test } from 'vitest'
import { cacheForLifetime } from '../../lib/core/once.ts'

describe('A refreshed value', () => {
  test('is read once per period', async () => {
    let [time, reads] = [0, 0]
    const read = cacheForLifetime(
      async () => ++reads,
      10,
      () => time,
    )
    expect(await Promise.all([read(), read()])).toEqual([1, 1])
    time = 9
    expect(await read()).toBe(1)
    time = 10
    expect(await read()).toBe(2)
  })

  test('keeps its last value while a read fails, and throws if it never had one', async () => {
    let [time, works] = [0, false]
    const read = cacheForLifetime(
      async () => {
        if (!works) throw new Error('down')
        return time
      },
      10,
      () => time,
    )
    await expect(read()).rejects.toThrow('down')
    works = true
    expect(await read()).toBe(0)
    works = false
    time = 10
    expect(await read()).toBe(0)
    works = true
    expect(await read()).toBe(0)
    time = 20
    expect(await read()).toBe(20)
  })
})
