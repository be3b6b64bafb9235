import type { Address } from 'viem'
import * as z from 'zod'

/** Maximum average number of vaults in a shard. One run records one shard. */
export const MAX_IN_SHARD = 1_000
const BITS = 160

/** Leading bits of the addresses of a shard's vaults; empty for all vaults of the chain. */
export const Shard = z.string().regex(/^[01]{0,160}$/)
export type Shard = z.output<typeof Shard>

/** Enqueues shards, each for a separate run; `askedAt` in epoch milliseconds. If it throws, some may not be enqueued. */
export type EnqueueShards = (
  messages: readonly { readonly chainId: number; readonly shard: Shard; readonly askedAt: number }[],
) => Promise<void>

/** Lists the shards of a chain with this many vaults: a power of two, in address order. */
export function listShards(vaults: number, max = MAX_IN_SHARD): Shard[] {
  const bits = Math.ceil(Math.log2(Math.max(1, vaults / max)))
  return Array.from({ length: 2 ** bits }, (_, index) => (bits === 0 ? '' : index.toString(2).padStart(bits, '0')))
}

/** Rotates the list by the run's number, so that no shard is always last. */
export function rotate(shards: readonly Shard[], numberOfRun: number): Shard[] {
  // Steps of the golden ratio spread the starts evenly.
  const first = Math.floor(((numberOfRun * GOLDEN) % 1) * shards.length)
  return [...shards.slice(first), ...shards.slice(0, first)]
}
const GOLDEN = (Math.sqrt(5) - 1) / 2

/** Returns the lowest and the highest address of a shard. */
export function addressesOf(shard: Shard): { readonly from: Address; readonly to: Address } {
  return { from: toAddress(shard.padEnd(BITS, '0')), to: toAddress(shard.padEnd(BITS, '1')) }
}

function toAddress(bits: string): Address {
  return `0x${BigInt(`0b${bits}`)
    .toString(16)
    .padStart(BITS / 4, '0')}`
}
