import { type Address, type Hex, parseAbi } from 'viem'
import { badResponse } from '../core/errors.ts'

/** Address of the Multicall3 contract, the same on every supported chain. */
export const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

/**
 * Address of Arbitrum's precompile ArbSys, which returns Arbitrum's own block number. On Arbitrum, `block.number` is
 * the parent chain's number. Other chains have something else at this address.
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

/** Hexadecimal digits of a 32-byte word. */
const WORD = 64
/**
 * Maximum number of hexadecimal digits of a count or an offset. The other digits of its 32-byte word must be 0, because
 * a larger number is no safe integer.
 */
const LOW_DIGITS = 14
const HIGH_ZEROS = '0'.repeat(WORD - LOW_DIGITS)
const ZEROS = '0'.repeat(WORD)
const PADDING_OF_ADDRESS = '0'.repeat(24)
/** Encoded words of one call after its address: `allowFailure` is true, and the call's bytes start after three words. */
const ALLOWED_TO_FAIL = word(1) + word(3 * 32)

/**
 * Encodes the calldata of `aggregate3`, which runs all calls. Each call may revert without failing the others. The code
 * is written by hand, because a general ABI coder takes most of a request's time. Tests compare the two.
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
  // All texts are joined in one step, because a text built by concatenation is copied once more when it is sent.
  return offsets.concat(tuples).join('') as Hex
}

/** Returns the number of hexadecimal digits that this call adds to the calldata of `aggregate3`. */
export function encodedLength({ data }: AggregateCall): number {
  return 5 * WORD + Math.ceil((data.length - 2) / WORD) * WORD
}

/**
 * Decodes the return data of `aggregate3`: one entry for each call, in order, undefined for a call that reverted.
 * Throws `upstream_bad_answer` for any other data. Each result needs a word of the data, so a false count cannot create
 * more results than the data has words.
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
 * Reads the 32-byte word that begins at this hexadecimal digit. Throws an Error if the number is not a safe integer, or
 * if the word is beyond the data.
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
