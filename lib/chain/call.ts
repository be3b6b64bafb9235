import {
  type Abi,
  type AbiFunction,
  type AbiParameter,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeAbiParameters,
  encodeAbiParameters,
  type Hex,
  toFunctionSelector,
} from 'viem'
import { checksumAddress, MAX_UINT256 } from '../core/codecs.ts'
import { badResponse } from '../core/errors.ts'
import { numberAt } from './multicall.ts'

/** A read-only call of a contract, and the decoder of its return data. */
export type ContractCall<T> = {
  readonly to: Address
  readonly data: Hex
  readonly decode: (data: Hex) => T
}

/**
 * Return values by the names of their calls. A value is undefined if the contract has no such function, reverted, or
 * returned another type.
 */
export type ReturnValues<Calls extends Record<string, ContractCall<unknown>>> = {
  readonly [Name in keyof Calls]: Calls[Name] extends ContractCall<infer T> ? T | undefined : never
}

/**
 * Builds the call `functionName(...args)` of the contract at `to`. Throws unless the ABI has exactly one such function
 * with this number of parameters.
 */
export function buildCall<
  const abi extends Abi,
  name extends ContractFunctionName<abi, 'pure' | 'view'>,
  const args extends ContractFunctionArgs<abi, 'pure' | 'view', name>,
>(
  to: Address,
  abi: abi,
  functionName: name,
  args: args,
): ContractCall<ContractFunctionReturnType<abi, 'pure' | 'view', name, args>> {
  // The cast is right: arguments of any function are a list.
  const values = args as readonly unknown[]
  const { selector, encode, decode } = coderOf(abi, functionName, values.length)
  return {
    to,
    data: values.length === 0 ? selector : `${selector}${encode(values)}`,
    // The cast is right: the coder belongs to this function of this ABI.
    decode: decode as (data: Hex) => ContractFunctionReturnType<abi, 'pure' | 'view', name, args>,
  }
}

/**
 * Returns the contract's value. Throws `upstream_bad_answer` if the contract returned none, because an unknown value
 * must not count as zero.
 */
export function requireValue<T>(answer: T | undefined | null): T {
  if (answer === undefined || answer === null) throw badResponse('the contract does not return this value')
  return answer
}

/**
 * Returns the same object. Throws `upstream_bad_answer` if a bigint in it is no uint256. Such a number was computed
 * from values that a contract invented.
 */
export function requireUint256<T extends object>(amounts: T): T {
  for (const amount of Object.values(amounts)) {
    if (typeof amount === 'bigint' && (amount < 0n || amount > MAX_UINT256))
      throw badResponse('an amount is not a uint256')
  }
  return amounts
}

/** Decodes the return data of calls, in order. A value is undefined if its call has no data, or data of another type. */
export function decodeReturnValues<T>(
  calls: readonly ContractCall<T>[],
  returned: readonly (Hex | undefined)[] = [],
): (T | undefined)[] {
  return calls.map(({ decode }, index) => {
    const data = returned[index]
    try {
      return data === undefined ? undefined : decode(data)
    } catch {
      // Data that does not decode means that the contract does not have this function.
      return undefined
    }
  })
}

type Coder = {
  readonly selector: Hex
  readonly encode: (args: readonly unknown[]) => string
  readonly decode: (data: Hex) => unknown
}

/** Encoders and decoders of functions by ABI. The map is kept, because computing a function's selector takes a hash. */
const coders = new WeakMap<Abi, Map<string, Coder>>()

function coderOf(abi: Abi, name: string, parameters: number): Coder {
  const ofAbi = coders.get(abi) ?? new Map<string, Coder>()
  coders.set(abi, ofAbi)
  const key = `${name}/${parameters}`
  const coder = ofAbi.get(key) ?? createCoder(abi, name, parameters)
  ofAbi.set(key, coder)
  return coder
}

function createCoder(abi: Abi, name: string, parameters: number): Coder {
  const [item, ...others] = abi.filter(
    (candidate): candidate is AbiFunction =>
      candidate.type === 'function' && candidate.name === name && candidate.inputs.length === parameters,
  )
  if (!item || others.length > 0) throw new Error(`The ABI has no single function ${name} of ${parameters} parameters.`)
  const { inputs, outputs } = item
  const words = inputs.map(({ type }) => WORD_ENCODERS[type])
  const [output] = outputs
  const decodeOne = outputs.length === 1 && output ? DECODERS[output.type] : undefined
  return {
    selector: toFunctionSelector(item),
    encode: (args) =>
      words.every((encode) => encode !== undefined)
        ? words.map((encode, index) => encode(args[index])).join('')
        : encodeAbiParameters(inputs, args).slice(2),
    decode: decodeOne ?? ((data) => decodeByAbi(outputs, data)),
  }
}

/**
 * Encoders of common parameter types to 64 hexadecimal digits. A general ABI encoder would take most of the time of a
 * large read.
 */
const WORD_ENCODERS: Readonly<Record<string, ((value: unknown) => string) | undefined>> = {
  address: (value) => {
    if (typeof value !== 'string' || !/^0x[0-9a-f]{40}$/i.test(value)) throw new Error('not an address')
    return value.slice(2).toLowerCase().padStart(64, '0')
  },
  uint256: (value) => {
    if (typeof value !== 'bigint' || value < 0n || value > MAX_UINT256) throw new Error('not an uint256')
    return value.toString(16).padStart(64, '0')
  },
}

const DECODERS: Readonly<Record<string, ((data: Hex) => unknown) | undefined>> = {
  address: (data) => {
    const word = firstWord(data)
    if (!word.startsWith('0'.repeat(24))) throw new Error('not an address')
    return checksumAddress(`0x${word.slice(24)}`)
  },
  uint256: (data) => BigInt(`0x${firstWord(data)}`),
  bool: (data) => {
    const value = BigInt(`0x${firstWord(data)}`)
    if (value > 1n) throw new Error('neither true nor false')
    return value === 1n
  },
  string: (data) => {
    const length = 2 + numberAt(data, 2) * 2
    const start = length + 64
    const bytes = numberAt(data, length)
    const end = start + bytes * 2
    if (end > data.length || bytes > MAX_TEXT_BYTES) throw new Error('a text beyond the data, or too long')
    return utf8.decode(Buffer.from(data.slice(start, end), 'hex'))
  },
}
const utf8 = new TextDecoder()
/** Maximum bytes of a string that a contract returns. A longer one is refused, because such strings are stored and shown. */
const MAX_TEXT_BYTES = 1_000

/** Returns the first 32-byte word of return data. More words may follow, as Solidity's own decoder allows. */
function firstWord(data: Hex): string {
  if (data.length < 66) throw new Error('less than a word')
  return data.slice(2, 66)
}

function decodeByAbi(outputs: readonly AbiParameter[], data: Hex): unknown {
  // Each value takes at least one 32-byte word. Shorter data is refused here, because creating viem's error takes longer than decoding a
  // vault's values.
  if (data.length < 2 + outputs.length * 64) throw new Error('less than its values')
  const values = decodeAbiParameters(outputs, data)
  return outputs.length > 1 ? values : values[0]
}
