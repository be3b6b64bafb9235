import { numberToHex, pad } from 'viem'
import { describe, expect, test } from 'vitest'
import { parseFinality, readFinalBlock } from '../../../lib/chain/finality.ts'
import { type EvmChain, evmChain } from '../../../lib/chain/registry.ts'
import type { Rpc } from '../../../lib/chain/rpc.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { createAgreedReaderOf } from '../../support/agreed.ts'

const BASE = evmChain(8453) as EvmChain
const timeOf = (number: number) => 1_700_000_000 + number * 2

function host(head: number) {
  const requests: number[] = []
  const rpc: Rpc = async (calls) => {
    requests.push(calls.length)
    return calls.map(({ params: [block] }) => {
      const number = block === 'latest' ? head : block === BASE.finality.tag ? head - 500 : Number(block)
      const [hash, parentHash] = [number, number - 1].map((of) => pad(numberToHex(of)))
      return { result: { number: numberToHex(number), timestamp: numberToHex(timeOf(number)), hash, parentHash } }
    })
  }
  return { rpc, requests }
}

describe('The newest final block by two hosts', () => {
  test('is no newer than either host reports', async () => {
    for (const [first, second] of [
      [90_002, 90_000],
      [90_000, 90_002],
    ] as const) {
      const [own, other] = [host(first), host(second)]
      const { final } = await readFinalBlock(createAgreedReaderOf(BASE, [own.rpc, other.rpc]))
      expect(final).toMatchObject({ number: 89_500n, timestamp: BigInt(timeOf(89_500)) })
      expect([own.requests, other.requests]).toEqual([
        [2, 2],
        [2, 2],
      ])
    }
  })

  test('costs one request per host if they agree', async () => {
    const [own, other] = [host(90_000), host(90_000)]
    await readFinalBlock(createAgreedReaderOf(BASE, [own.rpc, other.rpc]))
    expect([own.requests, other.requests]).toEqual([[2], [2]])
  })

  test.for([
    ['a day behind', 90_000 - 43_200],
    ['eight seconds behind', 90_000 - 4],
  ] as const)('is reported by two hosts while a third is %s', async ([, stuck]) => {
    const late = host(stuck)
    const reader = createAgreedReaderOf(BASE, [late.rpc, host(90_000).rpc, host(90_000).rpc])
    for (let question = 0; question < 2; question += 1) {
      expect((await readFinalBlock(reader)).head).toMatchObject({ number: 90_000n })
    }
    expect(late.requests).toHaveLength(1)
    const finalBlock = readFinalBlock(createAgreedReaderOf(BASE, [host(90_000).rpc, host(stuck).rpc]))
    await expect(finalBlock).rejects.toMatchObject({ code: 'second_node_silent' })
  })

  test('is not reported while the second host does not respond', async () => {
    const down: Rpc = async () => {
      throw new AppError('upstream_timeout')
    }
    const reading = readFinalBlock(createAgreedReaderOf(BASE, [host(90_000).rpc, down]))
    await expect(reading).rejects.toMatchObject({ code: 'second_node_silent' })
  })
})

test("A time is final once the chain's tag is after it and the head late enough", () => {
  const { seconds } = BASE.finality
  const blockAt = (time: number) => ({ result: { number: numberToHex(time), timestamp: numberToHex(time) } })
  const isPast = (tagged: number, head: number) => parseFinality(BASE, [blockAt(tagged), blockAt(head)]).isPast(1_000n)
  expect(isPast(1_001, 1_000 + seconds)).toBe(true)
  expect(isPast(1_000, 5_000)).toBe(false)
  expect(isPast(1_001, 999 + seconds)).toBe(false)
})
