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

/** Functions and events of each ABI by selector or topic. The map is kept, because computing a selector or topic takes a hash. */
const items = new WeakMap<Abi, ReadonlyMap<Hex, Abi[number]>>()

/** Returns an ABI that contains only the item with this selector or topic. Viem would otherwise hash all items in each call. */
function onlyItem<const abi extends Abi>(abi: abi, hash: Hex): abi {
  const ofAbi = items.get(abi) ?? new Map(abi.flatMap(hashed))
  items.set(abi, ofAbi)
  const item = ofAbi.get(hash)
  // The cast is right: the item belongs to this ABI, so the type of the ABI covers it.
  return (item ? [item] : []) as unknown as abi
}

function hashed(item: Abi[number]): [Hex, Abi[number]][] {
  if (item.type === 'function') return [[toFunctionSelector(item), item]]
  return item.type === 'event' ? [[toEventSelector(item), item]] : []
}

/** Decodes a log as an event of this ABI; undefined if the log is no such event. */
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

/** Decodes calldata as a call of this ABI; undefined if the calldata is no such call. */
export function decodeCall<const abi extends Abi>(abi: abi, data: Hex): DecodeFunctionDataReturnType<abi> | undefined {
  try {
    return decodeFunctionData({ abi: onlyItem(abi, slice(data, 0, 4)), data })
  } catch {
    return undefined
  }
}
