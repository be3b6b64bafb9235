import { type Address, maxUint256, zeroAddress } from 'viem'

/** Contract call as function name and arguments. */
export type Call = { readonly functionName: string; readonly args: readonly unknown[] }

const ALIKE: readonly (readonly string[])[] = [
  ['approve', 'increaseAllowance', 'transfer'],
  ['deposit', 'mint'],
  ['requestDeposit', 'syncDeposit', 'requestRedeem', 'deposit', 'mint'],
]

/**
 * Returns all values that differ from `value` in exactly one place, at any depth. An address becomes another address or zero. A
 * number changes. A function becomes another one with the same parameter types. A list lacks an item, repeats one or swaps two.
 */
export function listMutants<T>(value: T, addresses: readonly Address[]): T[] {
  return [...mutate(value, addresses)] as T[]
}

function* mutate(value: unknown, addresses: readonly Address[]): Generator<unknown> {
  if (typeof value === 'string') yield* [...addresses, zeroAddress].filter((other) => other !== value)
  if (typeof value === 'number') yield* [value - 1, value + 1].filter((other) => other >= 0)
  if (typeof value === 'bigint') {
    const others = new Set([value - 1n, value + 1n, 0n, 1n, maxUint256])
    yield* [...others].filter((other) => other !== value && other >= 0n && other <= maxUint256)
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield value.toSpliced(index, 1)
      yield value.toSpliced(index, 0, item)
      if (index > 0) yield value.toSpliced(index - 1, 2, item, value[index - 1])
    }
    yield* mutateEach(value, addresses)
  } else if (isCall(value)) {
    const { functionName, args } = value
    const alike = ALIKE.find((names) => names.includes(functionName) && names.length > 3 === args.length > 2) ?? []
    for (const other of alike) if (other !== functionName) yield { functionName: other, args }
    for (const changed of mutateEach(args, addresses)) yield { functionName, args: changed }
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, part] of Object.entries(value)) {
      for (const other of mutate(part, addresses)) yield { ...value, [name]: other }
    }
  }
}

function* mutateEach(items: readonly unknown[], addresses: readonly Address[]): Generator<readonly unknown[]> {
  for (const [index, item] of items.entries()) {
    for (const other of mutate(item, addresses)) yield items.with(index, other)
  }
}

const isCall = (value: unknown): value is Call => typeof value === 'object' && value !== null && 'functionName' in value
