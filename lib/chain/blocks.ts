import * as z from 'zod'
import { max, min } from '../bigint.ts'
import { Amount } from '../codecs.ts'
import type { BlockHeader } from './logs.ts'
import type { EvmChain } from './registry.ts'

/** A block's number and its time in seconds since 1970, as they are stored. */
export const StoredBlock = z.object({ number: Amount, timestamp: Amount })

/**
 * How far a search for a block by its time has come: the block is after `low` and not after `high`. It is data, so that
 * a search can go on in another container.
 */
export const BlockSearch = z.object({
  /** The newest block known to be before the time; none while only younger ones were seen. */
  low: StoredBlock.optional(),
  /** The oldest block known not to be before the time. */
  high: StoredBlock,
  /** Seconds between blocks, as measured last; it chooses where to look and decides nothing. */
  pace: z.number().positive(),
  /** How many blocks before `high` the next look is at least, while there is no `low`. */
  step: Amount,
  /** Whether the last poll left more than half of the blocks in between. */
  isSlow: z.boolean(),
})
export type BlockSearch = z.output<typeof BlockSearch>

/** A block this little before the time is near enough unless told, so that a search takes few looks. */
const NEAR_SECONDS = 60n
/** Below this, blocks share a timestamp and tell no pace. */
const LEAST_PACE = 0.05

/** By how many seconds, and at least how many blocks, nodes behind one URL are apart. */
const APART = { seconds: 2, blocks: 3 }

/** How many blocks before one that some nodes know all nodes behind their URL know one. */
export function blocksApart({ blockSeconds }: EvmChain): bigint {
  return BigInt(Math.max(APART.blocks, Math.ceil(APART.seconds / blockSeconds)))
}

/** A search for the block of a time that `head` is not before. `pace`: the seconds between blocks where to look first. */
export function startBlockSearch(head: BlockHeader, pace: number): BlockSearch {
  return { high: { ...head }, pace, step: 1n, isSlow: false }
}

/**
 * The number of the block to look at next, undefined when the search is over. Each look leaves fewer blocks, at least
 * every second one at most half of them, whatever the blocks say of their times: a search over n blocks takes at most
 * about 3 log2(n) looks, and two or three where the pace is steady.
 */
export function nextLook(
  { low, high, pace, step, isSlow }: BlockSearch,
  time: bigint,
  near = NEAR_SECONDS,
): bigint | undefined {
  if (high.number === 0n) return undefined
  const aim = time - near / 2n
  if (!low) {
    const back = max(blocksIn(high.timestamp - aim, pace), step)
    return high.number > back ? high.number - back : 0n
  }
  const between = high.number - low.number
  if (between <= 1n || time - low.timestamp <= near) return undefined
  if (isSlow) return low.number + between / 2n
  const isNearLow = time - low.timestamp < high.timestamp - time
  const fromLow = low.number + blocksIn(aim - low.timestamp, pace)
  const guess = isNearLow ? fromLow : high.number - blocksIn(high.timestamp - aim, pace)
  return max(low.number + 1n, min(high.number - 1n, guess))
}

/** The search after a look at this block, which `nextLook` named. */
export function narrowBlockSearch(search: BlockSearch, time: bigint, block: BlockHeader): BlockSearch {
  const { low, high } = search
  const isBefore = block.timestamp < time
  const after = isBefore ? { low: block, high } : { ...(low && { low }), high: block }
  const blocks = high.number - block.number
  const measured = Number(high.timestamp - block.timestamp) / Number(blocks)
  return {
    ...after,
    pace: measured > LEAST_PACE ? measured : search.pace,
    step: blocks * 2n,
    isSlow:
      low !== undefined &&
      !search.isSlow &&
      (after.high.number - (after.low?.number ?? 0n)) * 2n > high.number - low.number,
  }
}

/** The block from which on all of that time and later are, for a search that is over: near before it, or the first of all. */
export function foundBlock({ low }: BlockSearch): bigint {
  return low?.number ?? 0n
}

function blocksIn(seconds: bigint, pace: number): bigint {
  return max(1n, BigInt(Math.ceil(Number(seconds) / pace)))
}
