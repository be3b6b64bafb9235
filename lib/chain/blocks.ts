import * as z from 'zod'
import { max, min } from '../core/bigint.ts'
import { Amount } from '../core/codecs.ts'
import type { BlockHeader } from './logs.ts'
import type { EvmChain } from './registry.ts'

/** A block's number and its time in seconds since 1970, as stored. */
export const StoredBlock = z.object({ number: Amount, timestamp: Amount })

/**
 * State of a search for the first block at or after a time. That block is after `low` and not after `high`. The state
 * is plain data, so another container can continue the search.
 */
export const BlockSearch = z.object({
  /** Newest block known to be before the time; absent while all blocks read were at or after it. */
  low: StoredBlock.optional(),
  /** Oldest block known not to be before the time. */
  high: StoredBlock,
  /** Last measured seconds between blocks. It only decides which block is read next, never the result. */
  pace: z.number().positive(),
  /** Minimum blocks between `high` and the next read, while there is no `low`. */
  step: Amount,
  /** True if the last read left more than half of the blocks to search. The next one then halves them. */
  isSlow: z.boolean(),
})
export type BlockSearch = z.output<typeof BlockSearch>

/** Default seconds: a block at most this long before the time ends the search. */
const NEAR_SECONDS = 60n
/** Minimum measured seconds between blocks. A smaller value, of blocks that share a timestamp, is ignored. */
const MIN_PACE = 0.05

/** Maximum lag between nodes behind one URL: in seconds, but at least this number of blocks. */
const NODE_LAG = { seconds: 2, blocks: 3 }

/** Returns the maximum lag, in blocks, between nodes behind one URL. All of them know blocks older than that. */
export function maxNodeLag({ blockSeconds }: EvmChain): bigint {
  return BigInt(Math.max(NODE_LAG.blocks, Math.ceil(NODE_LAG.seconds / blockSeconds)))
}

/** Starts a search for the block of a time that is not after `head`. `pace`: expected seconds between blocks. */
export function startBlockSearch(head: BlockHeader, pace: number): BlockSearch {
  return { high: { ...head }, pace, step: 1n, isSlow: false }
}

/**
 * Returns the number of the next block to read; undefined once the search is over. Each read leaves fewer blocks, and
 * at least every second read halves them, whatever the blocks' times are. A search over n blocks takes at most about 3
 * log2(n) reads, and two or three if blocks come regularly.
 */
export function nextSearchBlock(
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

/** Returns the search after the block that `nextSearchBlock` returned was read. */
export function narrowBlockSearch(search: BlockSearch, time: bigint, block: BlockHeader): BlockSearch {
  const { low, high } = search
  const isBefore = block.timestamp < time
  const after = isBefore ? { low: block, high } : { ...(low && { low }), high: block }
  const blocks = high.number - block.number
  const measured = Number(high.timestamp - block.timestamp) / Number(blocks)
  return {
    ...after,
    pace: measured > MIN_PACE ? measured : search.pace,
    step: blocks * 2n,
    isSlow:
      low !== undefined &&
      !search.isSlow &&
      (after.high.number - (after.low?.number ?? 0n)) * 2n > high.number - low.number,
  }
}

/**
 * Returns the number of the block that a finished search found: shortly before the time, or block 0. All blocks at or
 * after the time come later.
 */
export function foundBlock({ low }: BlockSearch): bigint {
  return low?.number ?? 0n
}

function blocksIn(seconds: bigint, pace: number): bigint {
  return max(1n, BigInt(Math.ceil(Number(seconds) / pace)))
}
