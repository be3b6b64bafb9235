import fc from 'fast-check'
import { type Abi, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi, toHex } from 'viem'
import { expect, test } from 'vitest'
import { buildCall } from '../../../lib/chain/call.ts'
import { scaleSampleCount } from '../../support/runs.ts'

const TO = '0x00000000000000000000000000000000000000A1'
const abi = parseAbi([
  'function none() view returns (uint256)',
  'function address_(address) view returns (address)',
  'function two(uint256, address) view returns (bool)',
  'function two(uint256) view returns (uint8)',
  'function small(uint40) view returns (uint40)',
  'function text(bytes4) view returns (string)',
  'function several(uint256) view returns (uint256, address)',
  'function same(uint256) view returns (uint256)',
  'function same(address) view returns (uint256)',
])
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => toHex(bytes))

const anyCall = fc.oneof(
  fc.constant({ functionName: 'none', args: [] }),
  fc.tuple(address).map((args) => ({ functionName: 'address_', args })),
  fc.tuple(uint256, address).map((args) => ({ functionName: 'two', args })),
  fc.tuple(uint256).map((args) => ({ functionName: 'two', args })),
  fc.tuple(fc.nat()).map((args) => ({ functionName: 'small', args })),
  fc.constant({ functionName: 'text', args: ['0x01ffc9a7'] }),
  fc.tuple(uint256).map((args) => ({ functionName: 'several', args })),
)
const word = fc
  .oneof(uint256, fc.constantFrom(0n, 1n, 2n, 32n, 64n), address.map(BigInt))
  .map((value) => toHex(value, { size: 32 }).slice(2))
const returned = fc
  .tuple(fc.array(word, { maxLength: 4 }), fc.uint8Array({ maxLength: 40 }))
  .map(([words, more]): Hex => `0x${words.join('')}${Buffer.from(more).toString('hex')}`)

const outcomeOf = (decode: () => unknown) => {
  try {
    return { value: decode() }
  } catch {
    return 'throws'
  }
}

test('A view is encoded and its return data decoded as viem does, for any arguments and data', () => {
  fc.assert(
    fc.property(anyCall, returned, ({ functionName, args }, data) => {
      // A single zero word is excluded. Solidity reads it as an empty text, and viem refuses it.
      fc.pre(functionName !== 'text' || data !== toHex(0n, { size: 32 }))
      // Words larger than an address are excluded. Solidity refuses them, and viem cuts them off.
      fc.pre(functionName !== 'address_' || data.length < 66 || data.startsWith(`0x${'0'.repeat(24)}`))
      // The casts are needed, because the types of both encoders expect one known function.
      const own = buildCall(TO, abi as Abi, functionName, args)
      // Viem decodes with the first function of a name, so its ABI contains only the called function.
      const item = abi.filter((item) => item.name === functionName && item.inputs.length === args.length)
      expect(own.data).toBe(encodeFunctionData({ abi: item as Abi, functionName, args }))
      expect(outcomeOf(() => own.decode(data))).toEqual(
        outcomeOf(() => decodeFunctionResult({ abi: item as Abi, functionName, data })),
      )
    }),
    { numRuns: scaleSampleCount(1_000) },
  )
})

test('A word larger than an address throws', () => {
  expect(() => buildCall(TO, abi as Abi, 'address_', [TO]).decode(`0x${'f'.repeat(64)}`)).toThrow('not an address')
})

test.for<[string, unknown[]]>([
  ['address_', ['0x1234']],
  ['two', [-1n]],
  ['two', [2n ** 256n]],
  ['two', ['1']],
  ['same', [1n]],
  ['nothing', []],
])('A call of %s with %s throws', ([functionName, args]) => {
  expect(() => buildCall(TO, abi as Abi, functionName, args)).toThrow()
})
