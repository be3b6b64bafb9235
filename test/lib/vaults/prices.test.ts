import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addPrices, type BlockPrice, type KnownPrices, priceBefore } from '../../../lib/vaults/prices.ts'

const at = (block: number, price = 1_000_000n): BlockPrice => ({
  price,
  timestamp: 1_700_000_000n + BigInt(block) * 2n,
  blockNumber: BigInt(block),
})

test('The price before a block is the last one of an earlier block, in any order of prices', () => {
  expect(priceBefore([at(5), at(9), at(2)], 9n)).toEqual(at(5))
  expect(priceBefore([at(5), at(9), at(2)], 10n)).toEqual(at(9))
  expect(priceBefore([at(5)], 5n)).toBeUndefined()
  expect(priceBefore([], 5n)).toBeUndefined()
})

test('Progress keeps the first price, the last one up to the recorded block, and the newest', () => {
  const knownPrices = addPrices({}, [at(3), at(1), at(7), at(20), at(30)], 10n)
  expect(knownPrices).toEqual({ firstPrice: at(1), lastPrices: [at(7), at(30)] })
  // The newest price is at block 30. It becomes the last recorded price as soon as the records reach block 30.
  expect(addPrices(knownPrices, [], 30n)).toEqual({ firstPrice: at(1), lastPrices: [at(30)] })
  expect(addPrices({}, [], 10n)).toEqual({})
})

test('The last price is the same for any batches of recorded prices', () => {
  const blocks = fc.uniqueArray(fc.nat(100), { maxLength: 20 })
  fc.assert(
    fc.property(blocks, fc.array(fc.nat(100)), (prices, cuts) => {
      let knownPrices: KnownPrices = {}
      let from = -1
      for (const through of [...cuts.toSorted((left, right) => left - right), 100]) {
        const ofSlice = prices.filter((block) => block > from && block <= through).map((block) => at(block))
        knownPrices = addPrices(knownPrices, ofSlice, BigInt(through))
        from = through
      }
      const inOrder = prices.toSorted((left, right) => left - right)
      expect(knownPrices.firstPrice?.blockNumber).toBe(inOrder[0] === undefined ? undefined : BigInt(inOrder[0]))
      expect(priceBefore(knownPrices.lastPrices ?? [], 101n)?.blockNumber).toBe(
        knownPrices.lastPrices?.at(-1)?.blockNumber,
      )
      expect(knownPrices.lastPrices?.at(-1)?.blockNumber).toBe(
        prices.length === 0 ? undefined : BigInt(Math.max(...prices)),
      )
    }),
  )
})
