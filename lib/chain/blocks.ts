import * as z from 'zod'
import { max, min } from '../core/bigint.ts'
import { Amount } from '../core/codecs.ts'
import type { BlockHeader } from './logs.ts'
import type { EvmChain } from './registry.ts'

/** A block's number and its time in seconds since 1970, as stored. */
export const StoredBlock = z.object({ number: Amount, timestamp: Amount })

/**
 * State of a search for the first block at or after a given time. That block is after `low` and not after `high`. The
 * search ends at a block that is at most `near` seconds before the searched time.
 */
export type BlockSearch = {
  /**
   * Newest block known to be before the searched time; absent while no such block is known. Once the search is over, it
   * is the result, and if it is absent, block 0 is.
   */
  readonly low?: BlockHeader
  /** Oldest block known to be at or after the searched time. */
  readonly high: BlockHeader
  /** Last measured seconds between blocks. It only decides which block is read next, never the result. */
  readonly pace: number
  /** Minimum number of blocks to go back from `high` for the next read, while `low` is absent. */
  readonly step: bigint
  /** True if the last read left more than half of the blocks to search. The next read then halves the rest. */
  readonly isSlow: boolean
}

/** Minimum measured seconds between blocks. Blocks that share a timestamp give a smaller value, which is ignored. */
const MIN_PACE = 0.05

/** Maximum lag of a node behind other nodes at the same URL: two seconds, but at least three blocks. */
const NODE_LAG = { seconds: 2, blocks: 3 }

/**
 * Returns the maximum number of blocks by which a node behind a URL lags. All nodes behind the URL have a block that is
 * this much older than the latest block.
 */
export function maxNodeLag({ blockSeconds }: EvmChain): bigint {
  return BigInt(Math.max(NODE_LAG.blocks, Math.ceil(NODE_LAG.seconds / blockSeconds)))
}

/**
 * Starts a search for the first block at or after a time. `head` must be a block at or after that time. `pace` is the
 * expected number of seconds between blocks.
 */
export function startBlockSearch(head: BlockHeader, pace: number): BlockSearch {
  return { high: { ...head }, pace, step: 1n, isSlow: false }
}

/**
 * Returns the number of the next block to read; undefined once the search is over. At least every second read halves
 * the remaining blocks, whatever their timestamps are. A search over n blocks takes at most about 3 log2(n) reads. It
 * takes two or three reads if blocks come regularly.
 */
export function nextSearchBlock(
  { low, high, pace, step, isSlow }: BlockSearch,
  time: bigint,
  near: bigint,
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

/** Narrows the search by a block that was read. Its number is the one that `nextSearchBlock` returned. */
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

function blocksIn(seconds: bigint, pace: number): bigint {
  return max(1n, BigInt(Math.ceil(Number(seconds) / pace)))
}
