import fc from 'fast-check'
import { decodeFunctionResult, encodeFunctionData, encodeFunctionResult, type Hex, parseAbi, toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { decodeAggregate, encodeAggregate, encodedLength } from '../../../lib/chain/multicall.ts'
import { scaleSampleCount } from '../../support/runs.ts'

const abi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[] returnData)',
])
const aggregate3 = { abi, functionName: 'aggregate3' } as const

const bytes = fc.uint8Array({ maxLength: 130 }).map((array) => toHex(array))
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((array) => toHex(array))
const calls = fc.array(fc.record({ to: address, data: bytes }), { maxLength: 20 })
const results = fc.array(fc.record({ success: fc.boolean(), returnData: bytes }), { maxLength: 20 })

function decodedByViem(data: Hex) {
  try {
    return decodeFunctionResult({ ...aggregate3, data }).map(({ success, returnData }) =>
      success ? returnData : undefined,
    )
  } catch {
    return undefined
  }
}

function decoded(data: Hex) {
  try {
    return decodeAggregate(data)
  } catch {
    return undefined
  }
}

describe('An aggregate', () => {
  test('has the same calldata as viem’s, for any calls', () => {
    fc.assert(
      fc.property(calls, (calls) => {
        const args = [calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }))] as const
        const encoded = encodeAggregate(calls)
        expect(encoded).toBe(encodeFunctionData({ ...aggregate3, args }))
        const digits = calls.reduce((sum, call) => sum + encodedLength(call), '0x82ad56cb'.length + 2 * 64)
        expect(encoded).toHaveLength(digits)
      }),
    )
  })

  test('is decoded as viem does, for any return data', () => {
    fc.assert(
      fc.property(results, (results) => {
        const data = encodeFunctionResult({ ...aggregate3, result: results })
        expect(decodeAggregate(data)).toEqual(decodedByViem(data))
      }),
    )
  })

  test('that is malformed throws if viem throws, and else has the same results', () => {
    const words = fc.oneof(fc.nat({ max: 400 }).map(BigInt), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }))
    const change = fc.record({ word: fc.nat({ max: 60 }), value: words, length: fc.option(fc.nat({ max: 2_000 })) })
    fc.assert(
      fc.property(results, change, (results, { word, value, length }) => {
        const whole = encodeFunctionResult({ ...aggregate3, result: results })
        const at = 2 + word * 64
        const digits = value.toString(16).padStart(64, '0')
        const changed = at + 64 <= whole.length ? `${whole.slice(0, at)}${digits}${whole.slice(at + 64)}` : whole
        const data = changed.slice(0, 2 + (length ?? 10_000) * 2) as Hex
        expect(decoded(data)).toEqual(decodedByViem(data))
      }),
      { numRuns: scaleSampleCount(2_000) },
    )
  })

  test.for<Hex>(['0x', '0xdeadbeef', `0x${'ff'.repeat(32)}`, `0x${'zz'.repeat(64)}`])('of %s throws', (data) => {
    expect(() => decodeAggregate(data)).toThrow()
  })
})
