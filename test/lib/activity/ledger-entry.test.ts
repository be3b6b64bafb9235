import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildSortKey } from '../../../lib/activity/ledger-entry.ts'
import { locateEntries } from '../../support/ledger-entries.ts'

const few = fc.nat({ max: 3 })
const anyPlace = fc.record({
  seconds: fc.oneof(few, fc.nat({ max: 99_999_999_999 })),
  chainId: fc.constantFrom(1, 56, 8453, 42161),
  blockNumber: fc.oneof(few, fc.nat({ max: 999_999_999_999 })),
  logIndex: fc.oneof(few, fc.nat({ max: 999_999 })),
})

test('Sort keys of ledger entries sort as text by time, then by chain, block and event', () => {
  fc.assert(
    fc.property(anyPlace, anyPlace, (...places) => {
      const [one = '', other = ''] = places.map(({ seconds, ...place }) => {
        const unlocated = { kind: 'send', assets: 1n, shares: 1n } as const
        const [entry] = locateEntries([unlocated])
        return entry ? buildSortKey({ ...entry, ...place, timestamp: new Date(seconds * 1000) }) : ''
      })
      const [first, second] = places.map(({ seconds, chainId, blockNumber, logIndex }) => [
        ...[seconds, chainId, blockNumber, logIndex],
      ])
      const difference = first?.map((part, index) => part - (second?.[index] ?? 0)).find((part) => part !== 0) ?? 0
      expect(one < other ? -1 : Number(one > other)).toBe(Math.sign(difference))
    }),
  )
})
