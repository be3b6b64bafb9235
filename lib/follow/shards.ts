import type { Address } from 'viem'
import * as z from 'zod'

/** The vaults of a shard, on average, at most: so many one run records. */
export const MAX_IN_SHARD = 1_000
/** The bits of an address. */
const BITS = 160

/** The vaults of a chain whose addresses begin with these bits; all of them where there are none. */
export const Shard = z.string().regex(/^[01]{0,160}$/)
export type Shard = z.output<typeof Shard>

/** Has shards recorded, each by a run of its own; throws when that is not certain. `askedAt` is in epoch milliseconds. */
export type EnqueueShards = (
  messages: readonly { readonly chainId: number; readonly shard: Shard; readonly askedAt: number }[],
) => Promise<void>

/** The shards of a chain with so many vaults: a power of two, in the order of the addresses. */
export function listShards(vaults: number, max = MAX_IN_SHARD): Shard[] {
  const bits = Math.ceil(Math.log2(Math.max(1, vaults / max)))
  return Array.from({ length: 2 ** bits }, (_, index) => (bits === 0 ? '' : index.toString(2).padStart(bits, '0')))
}

/** The shards from another one on in each run, so that none always waits behind the others. */
export function rotate(shards: readonly Shard[], numberOfRun: number): Shard[] {
  // Steps of the golden ratio come evenly to all places.
  const first = Math.floor(((numberOfRun * GOLDEN) % 1) * shards.length)
  return [...shards.slice(first), ...shards.slice(0, first)]
}
const GOLDEN = (Math.sqrt(5) - 1) / 2

/** The lowest and the highest address of a shard. */
export function addressesOf(shard: Shard): { readonly from: Address; readonly to: Address } {
  return { from: toAddress(shard.padEnd(BITS, '0')), to: toAddress(shard.padEnd(BITS, '1')) }
}

function toAddress(bits: string): Address {
  return `0x${BigInt(`0b${bits}`)
    .toString(16)
    .padStart(BITS / 4, '0')}`
}
