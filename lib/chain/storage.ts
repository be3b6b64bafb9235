import type { Address, Hex } from 'viem'
import type { AggregateCall } from './multicall.ts'

/** Program that replaces a contract's code: it returns the storage words of the slots in its calldata. */
const STORAGE_PROGRAM: Hex = '0x5f5b8035548152602001803611600157365ff3'

/** Hexadecimal digits of the override of one contract. */
export const OVERRIDE_DIGITS = STORAGE_PROGRAM.length

/** Encodes the call for storage words of a contract; it needs `storageOverrides`. */
export function encodeStorageCall(contract: Address, slots: readonly Hex[]): AggregateCall {
  return { to: contract, data: `0x${slots.map((slot) => slot.slice(2)).join('')}` }
}

/** Returns the state overrides with which these contracts return storage words. */
export function storageOverrides(contracts: readonly Address[]): Readonly<Record<Address, { readonly code: Hex }>> {
  return Object.fromEntries(contracts.map((contract) => [contract, { code: STORAGE_PROGRAM }]))
}

/** Parses the words that a call for these slots returned; undefined if the node ignored the override. */
export function parseStorage(slots: readonly Hex[], data: Hex | undefined): bigint[] | undefined {
  if (slots.length === 0) return []
  if (data?.length !== 2 + slots.length * 64) return undefined
  return slots.map((_, index) => BigInt(`0x${data.slice(2 + index * 64, 66 + index * 64)}`))
}
