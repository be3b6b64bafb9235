import {
  type Abi,
  type DecodeEventLogReturnType,
  type DecodeFunctionDataReturnType,
  decodeAbiParameters,
  decodeEventLog,
  decodeFunctionData,
  type Hex,
  parseAbi,
  slice,
  toEventSelector,
  toFunctionSelector,
} from 'viem'
import type { Log } from './logs.ts'

/** Errors that Solidity itself reverts with (https://docs.soliditylang.org/en/latest/control-structures.html). */
const SOLIDITY_ERRORS = /* @__PURE__ */ parseAbi(['error Error(string)', 'error Panic(uint256)'])

/** Items of each ABI by selector or topic. The map is kept, because computing a selector or topic takes a hash. */
const items = new WeakMap<Abi, ReadonlyMap<Hex | undefined, Abi>>()

/** Returns an ABI that contains only the items with this selector or topic. Viem would otherwise hash all items in each call. */
function pickItems<const abi extends Abi>(abi: abi, hash: Hex): abi {
  const ofAbi = items.get(abi) ?? Map.groupBy(abi, hashOf)
  items.set(abi, ofAbi)
  // The cast is right: the items belong to this ABI, so the type of the ABI covers them.
  return (ofAbi.get(hash) ?? []) as unknown as abi
}

function hashOf(item: Abi[number]): Hex | undefined {
  if (item.type === 'event') return toEventSelector(item)
  if (item.type === 'function') return toFunctionSelector(item)
  // An error's selector is computed like that of a function with the same name and inputs.
  if (item.type === 'error')
    return toFunctionSelector({ ...item, type: 'function', outputs: [], stateMutability: 'view' })
  return undefined
}

/** Decodes a log as an event of this ABI; undefined if the log is no such event. */
export function decodeLog<const abi extends Abi>(
  abi: abi,
  { topics, data }: Pick<Log, 'topics' | 'data'>,
): DecodeEventLogReturnType<abi> | undefined {
  const [topic, ...indexed] = topics
  if (!topic) return undefined
  try {
    return decodeEventLog({ abi: pickItems(abi, topic), topics: [topic, ...indexed], data })
  } catch {
    return undefined
  }
}

/** Decodes calldata as a call of this ABI; undefined if the calldata is no such call. */
export function decodeCall<const abi extends Abi>(abi: abi, data: Hex): DecodeFunctionDataReturnType<abi> | undefined {
  try {
    return decodeFunctionData({ abi: pickItems(abi, slice(data, 0, 4)), data })
  } catch {
    return undefined
  }
}

/** Decodes revert data as an error of this ABI or of Solidity itself; undefined for any other data. */
export function decodeError(abi: Abi, data: Hex): { name: string; args: readonly unknown[] } | undefined {
  try {
    const selector = slice(data, 0, 4)
    const candidates = [...pickItems(abi, selector), ...pickItems<Abi>(SOLIDITY_ERRORS, selector)]
    const error = candidates.find((item) => item.type === 'error')
    if (!error) return undefined
    const { name, inputs } = error
    return { name, args: inputs.length > 0 ? decodeAbiParameters(inputs, slice(data, 4)) : [] }
  } catch {
    return undefined
  }
}
