import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inBatches } from '../../lib/core/batches.ts'

test('Batches have all items in order, and all but the last have the given size', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 10 }), (items, size) => {
      const batches = inBatches(items, size)
      expect(batches.flat()).toEqual(items)
      expect(batches.slice(0, -1).every(({ length }) => length === size)).toBe(true)
      expect(batches.every(({ length }) => length > 0 && length <= size)).toBe(true)
    }),
  )
})
