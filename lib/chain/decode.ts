import {
  type Abi,
  type DecodeEventLogReturnType,
  type DecodeFunctionDataReturnType,
  decodeEventLog,
  decodeFunctionData,
  type Hex,
} from 'viem'
import type { Log } from './logs.ts'

/** The event of this ABI that a log is; undefined where it is none. */
export function decodeLog<const abi extends Abi>(
  abi: abi,
  { topics, data }: Pick<Log, 'topics' | 'data'>,
): DecodeEventLogReturnType<abi> | undefined {
  const [topic, ...indexed] = topics
  if (!topic) return undefined
  try {
    return decodeEventLog({ abi, topics: [topic, ...indexed], data })
  } catch {
    return undefined
  }
}

/** The call of this ABI that calldata is; undefined where it is none. */
export function decodeCall<const abi extends Abi>(abi: abi, data: Hex): DecodeFunctionDataReturnType<abi> | undefined {
  try {
    return decodeFunctionData({ abi, data })
  } catch {
    return undefined
  }
}
