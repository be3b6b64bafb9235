import type { Transaction } from './api.ts'

/** A transaction as viem, wagmi and EIP-5792's `sendCalls` take it. */
export type Call = { readonly to: `0x${string}`; readonly data: `0x${string}`; readonly value: bigint }

/** A transaction with its value as a bigint. */
export function toViem({ to, data, value }: Transaction): Call {
  return { to, data, value: BigInt(value) }
}

/** What a prepared deposit, claim, withdrawal or cancellation is made of, in the order in which it is sent. */
export function toCalls({
  approval,
  operations,
}: {
  readonly approval: readonly Transaction[]
  readonly operations: readonly Transaction[]
}): Call[] {
  return [...approval, ...operations].map(toViem)
}
