import { type Abi, decodeErrorResult, encodeErrorResult, parseAbi, toFunctionSelector } from 'viem'
import { expect, test, vi } from 'vitest'
import { decodeError } from '../../../lib/chain/decode.ts'

const SOLIDITY = parseAbi(['error Error(string)', 'error Panic(uint256)'])
const ABI = parseAbi(['function closed() view', 'error closed()', 'error TooMuch(address account, uint256 amount)'])
const ACCOUNT = '0x00000000000000000000000000000000000000A1'

test.for([
  ['one without arguments', toFunctionSelector('closed()')],
  ['one with arguments', encodeErrorResult({ abi: ABI, errorName: 'TooMuch', args: [ACCOUNT, 7n] })],
  ['a text', encodeErrorResult({ abi: SOLIDITY, errorName: 'Error', args: ['paused'] })],
  ['a panic', encodeErrorResult({ abi: SOLIDITY, errorName: 'Panic', args: [17n] })],
] as const)('An error is decoded as a general decoder does: %s', ([, data]) => {
  const { errorName, args = [] } = decodeErrorResult({ abi: ABI, data })
  expect(decodeError(ABI, data)).toEqual({ name: errorName, args })
})

test.for([
  ['nothing', '0x'],
  ['less than a selector', '0xdead'],
  ['an unknown selector', '0xdeadbeef'],
  ['a known selector without its arguments', toFunctionSelector('TooMuch(address,uint256)')],
] as const)('%s is no error', ([, data]) => {
  expect(decodeError(ABI, data)).toBeUndefined()
})

test('A function with the same signature is not an error', () => {
  expect(decodeError(parseAbi(['function closed() view']), toFunctionSelector('closed()'))).toBeUndefined()
})

test('The hashes of an ABI are computed once', () => {
  const abi: Abi = [...ABI]
  const walk = vi.spyOn(abi, Symbol.iterator)
  for (const data of ['0xdeadbeef', '0xdeadbef0', toFunctionSelector('closed()')] as const) decodeError(abi, data)
  expect(walk).toHaveBeenCalledTimes(1)
})
