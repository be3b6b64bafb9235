import { type Abi, type AbiParameter, decodeAbiParameters, type Hex, parseAbi, slice, toFunctionSelector } from 'viem'

type NamedError = { readonly name: string; readonly inputs: readonly AbiParameter[] }

/** Errors that Solidity itself reverts with (https://docs.soliditylang.org/en/latest/control-structures.html). */
const SOLIDITY_ERRORS = parseAbi(['error Error(string)', 'error Panic(uint256)'])

/** Errors of each ABI by selector. The map is kept, because computing a selector takes a hash. */
const errors = new WeakMap<Abi, ReadonlyMap<Hex, NamedError>>()

function findError(abi: Abi, selector: Hex): NamedError | undefined {
  const ofAbi = errors.get(abi) ?? new Map(abi.flatMap(hashed))
  errors.set(abi, ofAbi)
  return ofAbi.get(selector)
}

function hashed(item: Abi[number]): [Hex, NamedError][] {
  if (item.type !== 'error') return []
  // An error's selector is computed like that of a function with the same name and inputs.
  return [[toFunctionSelector({ ...item, type: 'function', outputs: [], stateMutability: 'view' }), item]]
}

/** Decodes revert data as an error of this ABI or of Solidity itself; undefined for any other data. */
export function decodeError(abi: Abi, data: Hex): { name: string; args: readonly unknown[] } | undefined {
  try {
    const selector = slice(data, 0, 4)
    const error = findError(abi, selector) ?? findError(SOLIDITY_ERRORS, selector)
    if (!error) return undefined
    const { name, inputs } = error
    return { name, args: inputs.length > 0 ? decodeAbiParameters(inputs, slice(data, 4)) : [] }
  } catch {
    return undefined
  }
}
