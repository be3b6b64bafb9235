import fc from 'fast-check'
import { expect, test } from 'vitest'
import { computeRunNumber } from '../../../lib/follow/run.ts'
import { listAddressRange, listShards, rotateShards, Shard } from '../../../lib/follow/shards.ts'

test('Shards have each address once, and between 500 and 1,000 vaults on average', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100_000 }), (vaults) => {
      const shards = listShards(vaults)
      const ranges = shards.map((shard) => listAddressRange(Shard.parse(shard)))
      let next = 0n
      for (const { from, to } of ranges) {
        expect(BigInt(from)).toBe(next)
        next = BigInt(to) + 1n
      }
      expect(next).toBe(2n ** 160n)
      expect(vaults / shards.length).toBeLessThanOrEqual(1_000)
      if (shards.length > 1) expect(vaults / shards.length).toBeGreaterThan(500)
    }),
  )
})

test.for([1, 2, 3, 4, 6, 7, 8, 10, 12])('Runs every %i minutes reach each of eight shards within a day', (minutes) => {
  const runs = Array.from({ length: (24 * 60) / minutes }, (_, index) => computeRunNumber(index * minutes * 60_000))
  for (const turns of [2, 4, 8]) expect(new Set(runs.map((number) => number % turns)).size).toBe(turns)
})

test.for([16, 128, 1_024])('Each of %i shards is recorded within 21 minutes at an eighth per minute', (count) => {
  const shards = listShards(count * 1_000)
  expect(shards).toHaveLength(count)
  const last = new Map(shards.map((shard) => [shard, 0]))
  let longest = 0
  for (let minute = 1; minute < 1_440; minute += 1) {
    for (const shard of rotateShards(shards, computeRunNumber(minute * 60_000)).slice(0, count / 8)) {
      longest = Math.max(longest, minute - (last.get(shard) ?? 0))
      last.set(shard, minute)
    }
  }
  expect(Math.max(longest, ...[...last.values()].map((minute) => 1_440 - minute))).toBeLessThanOrEqual(21)
})
