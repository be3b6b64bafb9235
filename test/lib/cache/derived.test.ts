import { expect, test, vi } from 'vitest'
import { derived } from '../../../lib/cache/derived.ts'

test('What is made of parts is made anew where a part is another one, for each key by itself', () => {
  const make = vi.fn(() => ({}))
  const remembered = derived<string, object>(3)
  const [one, other] = [{}, {}]
  const first = remembered([one, undefined], 'usd', make)
  expect(remembered([one, undefined], 'usd', make)).toBe(first)
  expect(remembered([one, undefined], 'eur', make)).not.toBe(first)
  expect(remembered([one, other], 'usd', make)).not.toBe(first)
  expect(remembered([one], 'usd', make)).not.toBe(first)
  expect(make).toHaveBeenCalledTimes(4)
})

test('What is made of parts is remembered for the keys that were asked for last', () => {
  const make = vi.fn(() => ({}))
  const remembered = derived<string, object>(2)
  for (const key of ['usd', 'eur', 'usd', 'gbp', 'usd']) remembered([1], key, make)
  expect(make).toHaveBeenCalledTimes(3)
  remembered([1], 'eur', make)
  expect(make).toHaveBeenCalledTimes(4)
})

test('What cannot be made is not remembered', () => {
  const remembered = derived<string, string>(2)
  const fail = () => {
    throw new Error('no rate')
  }
  expect(() => remembered([1], 'usd', fail)).toThrow('no rate')
  expect(remembered([1], 'usd', () => 'made')).toBe('made')
})
