import type { Address } from 'viem'
import * as z from 'zod'

/** Maximum average number of vaults in a shard. A shard is a group of a chain's vaults that one run handles. */
const MAX_IN_SHARD = 1_000
const BITS = 160

/** Group of a chain's vaults (shard), named by the leading bits that their addresses share; empty for all vaults of the chain. */
export const Shard = z.string().regex(/^[01]{0,160}$/)
export type Shard = z.output<typeof Shard>

/**
 * Enqueues groups of vaults (shards), each for a separate run. `askedAt` is the current time in epoch milliseconds. A
 * message that arrives too long after that time is dropped. After an error, some groups may not be enqueued.
 */
export type EnqueueShards = (
  messages: readonly { readonly chainId: number; readonly shard: Shard; readonly askedAt: number }[],
) => Promise<void>

/** Lists the groups (shards) for a chain with this many vaults, in address order. Their number is a power of two. */
export function listShards(vaults: number, max = MAX_IN_SHARD): Shard[] {
  const bits = Math.ceil(Math.log2(Math.max(1, vaults / max)))
  return Array.from({ length: 2 ** bits }, (_, index) => (bits === 0 ? '' : index.toString(2).padStart(bits, '0')))
}

/** Rotates the list of vault groups by the run's number, so that no group is always handled last. */
export function rotateShards(shards: readonly Shard[], numberOfRun: number): Shard[] {
  // The first group changes from run to run. Multiples of the golden ratio put each group first about equally often.
  const first = Math.floor(((numberOfRun * GOLDEN) % 1) * shards.length)
  return [...shards.slice(first), ...shards.slice(0, first)]
}
const GOLDEN = (Math.sqrt(5) - 1) / 2

/** Returns the lowest and the highest address that a vault of this group can have. */
export function listAddressRange(shard: Shard): { readonly from: Address; readonly to: Address } {
  return { from: toAddress(shard.padEnd(BITS, '0')), to: toAddress(shard.padEnd(BITS, '1')) }
}

function toAddress(bits: string): Address {
  return `0x${BigInt(`0b${bits}`)
    .toString(16)
    .padStart(BITS / 4, '0')}`
}
