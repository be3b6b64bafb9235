import { type Address, type Hex, parseAbi } from 'viem'
import { badResponse } from '../core/errors.ts'

/** Multicall3's address, the same on every supported chain. */
export const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

/**
 * Address of Arbitrum's precompile that returns the chain's own block number. There, `block.number` is that of the
 * parent chain. Other chains have something else at this address.
 */
export const ARB_SYS: Address = '0x0000000000000000000000000000000000000064'

/** ABI of Multicall3's functions about the chain itself (https://github.com/mds1/multicall3). */
export const multicall3Abi = parseAbi([
  'function getBlockNumber() view returns (uint256 blockNumber)',
  'function getCurrentBlockTimestamp() view returns (uint256 timestamp)',
  'function getEthBalance(address account) view returns (uint256 balance)',
])

/** One of the calls that Multicall3's `aggregate3` combines. */
export type AggregateCall = { readonly to: Address; readonly data: Hex }

/** Selector of `aggregate3((address target, bool allowFailure, bytes callData)[]) returns ((bool success, bytes returnData)[])`. */
const AGGREGATE3 = '0x82ad56cb'

/** Number of hexadecimal digits in a word, and the maximum of them that a byte count uses. */
const WORD = 64
const LOW_DIGITS = 14
const HIGH_ZEROS = '0'.repeat(WORD - LOW_DIGITS)
const ZEROS = '0'.repeat(WORD)
const PADDING_OF_ADDRESS = '0'.repeat(24)
/** Words of one call between its address and its bytes: `allowFailure` is true, and the bytes start after three words. */
const ALLOWED_TO_FAIL = word(1) + word(3 * 32)

/**
 * Encodes the calldata of `aggregate3`: all calls in one, each of which may fail by itself. Written by hand because a
 * general ABI coder takes most of a request's time; tests compare the two.
 */
export function encodeAggregate(calls: readonly AggregateCall[]): Hex {
  const offsets = [`${AGGREGATE3}${word(32)}${word(calls.length)}`]
  const tuples: string[] = []
  let offset = calls.length * 32
  for (const { to, data } of calls) {
    offsets.push(word(offset))
    const length = (data.length - 2) / 2
    const padding = (32 - (length % 32)) % 32
    tuples.push(PADDING_OF_ADDRESS, to.slice(2).toLowerCase(), ALLOWED_TO_FAIL, word(length), data.slice(2))
    if (padding > 0) tuples.push(ZEROS.slice(0, padding * 2))
    offset += 4 * 32 + length + padding
  }
  // The parts are joined in one step, because a concatenated text is copied once more when it is sent.
  return offsets.concat(tuples).join('') as Hex
}

/** Returns the number of hexadecimal digits that one call takes in an aggregate's calldata. */
export function encodedLength({ data }: AggregateCall): number {
  return 5 * WORD + Math.ceil((data.length - 2) / WORD) * WORD
}

/**
 * Decodes the return data of each call of an `aggregate3`, in order; undefined for a call that reverted. Throws
 * `upstream_bad_answer` on anything else. The data's length limits the number of results, because each has its own word
 * in it.
 */
export function decodeAggregate(data: Hex): (Hex | undefined)[] {
  try {
    return decodeResults(data)
  } catch (cause) {
    throw badResponse('not the return data of aggregate3', cause)
  }
}

function decodeResults(data: Hex): (Hex | undefined)[] {
  const list = 2 + numberAt(data, 2) * 2
  const count = numberAt(data, list)
  const offsets = list + WORD
  if (offsets + count * WORD > data.length) throw new Error('more results than data')
  return Array.from({ length: count }, (_, index) => {
    const result = offsets + numberAt(data, offsets + index * WORD) * 2
    const success = numberAt(data, result)
    if (success > 1) throw new Error('a success that is neither true nor false')
    const bytes = result + numberAt(data, result + WORD) * 2
    const start = bytes + WORD
    const end = start + numberAt(data, bytes) * 2
    if (end > data.length) throw new Error('a result beyond the data')
    return success === 1 ? (`0x${data.slice(start, end)}` as const) : undefined
  })
}

/**
 * Returns the number in the word that begins at this hexadecimal digit. Throws if it is not a safe integer, or the word
 * is beyond the data.
 */
export function numberAt(data: Hex, position: number): number {
  const end = position + WORD
  if (end > data.length) throw new Error('a word beyond the data')
  const value = data.startsWith(HIGH_ZEROS, position) ? Number(`0x${data.slice(end - LOW_DIGITS, end)}`) : Number.NaN
  if (!Number.isSafeInteger(value)) throw new Error('not an offset in the data')
  return value
}

function word(value: number): string {
  return value.toString(16).padStart(WORD, '0')
}
