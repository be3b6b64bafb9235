import { numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { parseFinality, readFinalBlock } from '../../../lib/chain/finality.ts'
import { chainReader } from '../../../lib/chain/reader.ts'
import { type EvmChain, evmChain } from '../../../lib/chain/registry.ts'
import type { Rpc } from '../../../lib/chain/rpc.ts'
import { AppError } from '../../../lib/errors.ts'

const BASE = evmChain(8453) as EvmChain
const timeOf = (number: number) => 1_700_000_000 + number * 2

/** A host of a chain with a block every two seconds, which says that it has come so far. */
function host(head: number) {
  const requests: number[] = []
  const rpc: Rpc = async (calls) => {
    requests.push(calls.length)
    return calls.map(({ params: [block] }) => {
      const number = block === 'latest' ? head : block === BASE.finality.tag ? head - 500 : Number(block)
      return { result: { number: numberToHex(number), timestamp: numberToHex(timeOf(number)) } }
    })
  }
  return { reader: chainReader(BASE, rpc), requests }
}

describe('The newest final block, where a second host is configured,', () => {
  test('is no newer than both say, whichever of them is wrong', async () => {
    for (const [first, second] of [
      [1_000_000_000, 90_000],
      [90_000, 1_000_000_000],
    ] as const) {
      const [own, other] = [host(first), host(second)]
      const { final } = await readFinalBlock({ ...own.reader, witness: other.reader })
      expect(final).toEqual({ number: 89_500n, timestamp: BigInt(timeOf(89_500)) })
      expect([own.requests, other.requests]).toEqual([[2], [2]])
    }
  })

  test('is what the first one says while the second one does not answer', async () => {
    const down: Rpc = async () => {
      throw new AppError('upstream_timeout')
    }
    const { final } = await readFinalBlock({ ...host(90_000).reader, witness: chainReader(BASE, down) })
    expect(final.number).toBe(89_500n)
  })
})

test("A time is past for good once the chain's tag is after it and the head as much later as the registry asks", () => {
  const { seconds } = BASE.finality
  const blockAt = (time: number) => ({ result: { number: numberToHex(time), timestamp: numberToHex(time) } })
  const isPast = (tagged: number, head: number) => parseFinality(BASE, [blockAt(tagged), blockAt(head)]).isPast(1_000n)
  expect(isPast(1_001, 1_000 + seconds)).toBe(true)
  expect(isPast(1_000, 5_000)).toBe(false)
  expect(isPast(1_001, 999 + seconds)).toBe(false)
})
