import type { Transaction } from './api.ts'

/** Transaction for viem, wagmi and EIP-5792's `sendCalls`. */
export type Call = { readonly to: `0x${string}`; readonly data: `0x${string}`; readonly value: bigint }

/** Returns a transaction with its value as a bigint. */
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
