import type { Address, Hex } from 'viem'
import type { AggregateCall } from './multicall.ts'

/** EVM program that replaces a contract's code in a call. It returns the storage words of the slots in its calldata. */
const STORAGE_PROGRAM: Hex = '0x5f5b8035548152602001803611600157365ff3'

/** Number of hexadecimal digits that the replacement of one contract's code adds to an RPC request. */
export const OVERRIDE_DIGITS = STORAGE_PROGRAM.length

/** Encodes the call that reads storage words of a contract. The call works only together with `buildCodeOverrides`. */
export function encodeStorageCall(contract: Address, slots: readonly Hex[]): AggregateCall {
  return { to: contract, data: `0x${slots.map((slot) => slot.slice(2)).join('')}` }
}

/** Returns the state overrides that replace the code of these contracts, so that they return their storage words. */
export function buildCodeOverrides(contracts: readonly Address[]): Readonly<Record<Address, { readonly code: Hex }>> {
  return Object.fromEntries(contracts.map((contract) => [contract, { code: STORAGE_PROGRAM }]))
}

/** Parses the storage words of these slots from a call's return data; undefined if the node ignored the override. */
export function parseStorage(slots: readonly Hex[], data: Hex | undefined): bigint[] | undefined {
  if (slots.length === 0) return []
  if (data?.length !== 2 + slots.length * 64) return undefined
  return slots.map((_, index) => BigInt(`0x${data.slice(2 + index * 64, 66 + index * 64)}`))
}
