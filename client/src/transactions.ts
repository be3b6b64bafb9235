import type { Transaction } from './api.ts'

/** Transaction in the form that viem, wagmi and EIP-5792's `sendCalls` take. */
export type Call = { readonly to: `0x${string}`; readonly data: `0x${string}`; readonly value: bigint }

/** Converts a transaction of the API for viem, with its value as a bigint. */
export function toViem({ to, data, value }: Transaction): Call {
  return { to, data, value: BigInt(value) }
}

/** Returns the calls of a prepared deposit, claim, withdrawal or cancellation, in the order to send them. */
export function toCalls({
  approval,
  operations,
}: {
  readonly approval: readonly Transaction[]
  readonly operations: readonly Transaction[]
}): Call[] {
  return [...approval, ...operations].map(toViem)
}
