import type { Transaction } from './api.ts'

/** Transaction in the form that viem and wagmi take, also in a batch of `sendCalls` (EIP-5792). */
export type Call = { readonly to: `0x${string}`; readonly data: `0x${string}`; readonly value: bigint }

/** Converts a transaction of the API for viem, with its value as a bigint. */
export function toViem({ to, data, value }: Transaction): Call {
  return { to, data, value: BigInt(value) }
}

/** Returns the calls of a prepared operation, such as a deposit, in the order to send them: approvals first. */
export function toCalls({
  approval,
  operations,
}: {
  readonly approval: readonly Transaction[]
  readonly operations: readonly Transaction[]
}): Call[] {
  return [...approval, ...operations].map(toViem)
}
