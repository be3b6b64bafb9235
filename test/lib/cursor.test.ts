import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeCursor, encodeCursor } from '../../lib/core/cursor.ts'
import { scaleSampleCount } from '../support/runs.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 80 })
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. '
const INVALID = expect.objectContaining({ code: 'invalid_cursor' })

describe('A cursor', () => {
  test('decodes to its position in its own list', () => {
    fc.assert(
      fc.property(text, text, (position, list) => {
        const cursor = encodeCursor(position, list)
        expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/)
        expect(decodeCursor(cursor, list)).toBe(position)
      }),
    )
  })

  test('is invalid in any other list', () => {
    fc.assert(
      fc.property(text, text, text, (position, list, other) => {
        fc.pre(list !== other)
        expect(() => decodeCursor(encodeCursor(position, list), other)).toThrow(INVALID)
      }),
    )
  })

  test('with any character changed, removed or added is invalid', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), text, (position, list) => {
        const cursor = encodeCursor(position, list)
        for (let index = 0; index <= cursor.length; index += 1) {
          const [before, at, after] = [cursor.slice(0, index), cursor[index], cursor.slice(index + 1)]
          for (const character of ALPHABET) {
            if (character !== at) expect(() => decodeCursor(before + character + after, list)).toThrow(INVALID)
            expect(() => decodeCursor(before + character + cursor.slice(index), list)).toThrow(INVALID)
          }
          if (at !== undefined) expect(() => decodeCursor(before + after, list)).toThrow(INVALID)
        }
      }),
      { numRuns: scaleSampleCount(4) },
    )
  })

  test('that the service did not issue is invalid', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), text, (cursor, list) => {
        expect(() => decodeCursor(cursor, list)).toThrow(INVALID)
      }),
    )
  })
})
