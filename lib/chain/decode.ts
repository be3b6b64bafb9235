import {
  type Abi,
  type DecodeEventLogReturnType,
  type DecodeFunctionDataReturnType,
  decodeEventLog,
  decodeFunctionData,
  type Hex,
  slice,
  toEventSelector,
  toFunctionSelector,
} from 'viem'
import type { Log } from './logs.ts'

/** The functions and events of each ABI by what their calldata and their logs begin with: each is a hash. */
const items = new WeakMap<Abi, ReadonlyMap<Hex, Abi[number]>>()

/** The ABI of the one item that has this hash; viem alone would hash all items, each time. */
function onlyItem<const abi extends Abi>(abi: abi, hash: Hex): abi {
  const ofAbi = items.get(abi) ?? new Map(abi.flatMap(hashed))
  items.set(abi, ofAbi)
  const item = ofAbi.get(hash)
  // What it decodes is typed by all items, of which it is one.
  return (item ? [item] : []) as unknown as abi
}

function hashed(item: Abi[number]): [Hex, Abi[number]][] {
  if (item.type === 'function') return [[toFunctionSelector(item), item]]
  return item.type === 'event' ? [[toEventSelector(item), item]] : []
}

/** The event of this ABI that a log is; undefined where it is none. */
export function decodeLog<const abi extends Abi>(
  abi: abi,
  { topics, data }: Pick<Log, 'topics' | 'data'>,
): DecodeEventLogReturnType<abi> | undefined {
  const [topic, ...indexed] = topics
  if (!topic) return undefined
  try {
    return decodeEventLog({ abi: onlyItem(abi, topic), topics: [topic, ...indexed], data })
  } catch {
    return undefined
  }
}

/** The call of this ABI that calldata is; undefined where it is none. */
export function decodeCall<const abi extends Abi>(abi: abi, data: Hex): DecodeFunctionDataReturnType<abi> | undefined {
  try {
    return decodeFunctionData({ abi: onlyItem(abi, slice(data, 0, 4)), data })
  } catch {
    return undefined
  }
}
