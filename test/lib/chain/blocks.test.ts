import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BlockSearch, narrowBlockSearch, nextSearchBlock, startBlockSearch } from '../../../lib/chain/blocks.ts'
import { scaleSampleCount } from '../../support/runs.ts'

type Chain = { readonly head: bigint; readonly timeOf: (number: bigint) => bigint }

function search({ head, timeOf }: Chain, time: bigint, pace: number) {
  let state: BlockSearch = startBlockSearch({ number: head, timestamp: timeOf(head) }, pace)
  const looks: bigint[] = []
  const next = () => nextSearchBlock(state, time, 60n)
  for (let number = next(); number !== undefined; number = next()) {
    looks.push(number)
    if (looks.length > 1_000) throw new Error('The search does not end.')
    state = narrowBlockSearch(state, time, { number, timestamp: timeOf(number) })
  }
  return { block: state.low?.number ?? 0n, looks }
}

/** Number of the block at which the time between blocks changes from 2 s to 0.2 s, as happened on Base. */
const CHANGED = 40_000_000n
const base: Chain = {
  head: 48_000_000n,
  timeOf: (number) =>
    number < CHANGED ? 1_700_000_000n + number * 2n : 1_700_000_000n + CHANGED * 2n + (number - CHANGED) / 5n,
}

describe('A search for the block of a time', () => {
  test.for([
    ['a minute', 60n],
    ['a day', 86_400n],
    ['two weeks', 1_209_600n],
    ['a year, before the pace changed', 31_536_000n],
  ] as const)('of %s ago reads at most eight blocks, whatever pace it expects', ([, ago]) => {
    const time = base.timeOf(base.head) - ago
    for (const pace of [0.2, 2, 12]) {
      const { block, looks } = search(base, time, pace)
      expect(base.timeOf(block)).toBeLessThan(time)
      expect(time - base.timeOf(block)).toBeLessThanOrEqual(60n)
      expect(looks.length).toBeLessThanOrEqual(pace === 0.2 || ago === 31_536_000n ? 8 : 4)
    }
  })

  test('ends just before the time on any chain, after few reads', () => {
    const anyGaps = fc.array(fc.oneof(fc.constant(0n), fc.bigInt(0n, 3n), fc.bigInt(0n, 100_000n)), {
      minLength: 1,
      maxLength: 300,
    })
    fc.assert(
      fc.property(anyGaps, fc.nat(), fc.constantFrom(0.1, 1, 12, 1000), (gaps, at, pace) => {
        const times = [1_000_000n]
        for (const gap of gaps) times.push((times.at(-1) ?? 0n) + gap)
        const head = BigInt(times.length - 1)
        const chain = { head, timeOf: (number: bigint) => times[Number(number)] ?? 0n }
        const last = times.at(-1) ?? 0n
        const time = last - (BigInt(at) % (last - 999_000n + 1n))
        const { block, looks } = search(chain, time, pace)
        const first = times.findIndex((timestamp) => timestamp >= time)
        expect(block).toBeLessThanOrEqual(BigInt(first))
        const isFirst = block === BigInt(Math.max(first - 1, 0))
        expect(isFirst || time - chain.timeOf(block) <= 60n).toBe(true)
        expect(looks.length).toBeLessThanOrEqual(30)
        expect(new Set(looks).size).toBe(looks.length)
      }),
      { numRuns: scaleSampleCount(500) },
    )
  })

  test('ends whatever times the blocks have', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.bigInt(0n, 2n ** 64n)), fc.bigInt(1n, 2n ** 40n), (times, head) => {
        const chain = { head, timeOf: () => times.next().value ?? 0n }
        expect(search(chain, 2n ** 62n, 0.2).looks.length).toBeLessThanOrEqual(130)
      }),
    )
  })
})
