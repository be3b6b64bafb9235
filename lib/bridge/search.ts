import * as z from 'zod'
import { BlockHeader, blockRequest, Log, type LogFilter, logsRequest, parseResult, rangesOf } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { RpcError } from '../chain/rpc.ts'
import { max } from '../core/bigint.ts'
import { badResponse } from '../core/errors.ts'
import type { Budget } from './poll.ts'
import type { LogSearch } from './transfer.ts'

/**
 * Numbers of blocks whose events one call requests. If a node refuses without naming its limit, the next smaller
 * number is tried. The first number is large because the searched events are rare.
 */
const RANGE_SIZES = [1_000_000n, 10_000n, 500n, 10n, 1n] as const

type Options = {
  readonly filters: readonly LogFilter[]
  readonly head: BlockHeader
  /** Time of the earliest events to search for, in seconds since 1970. */
  readonly since: bigint
  readonly reserved?: number
  readonly maxRanges?: number
  /** True if this poll has already read events. A refusal without a reason may then be temporary, so it only pauses the search. */
  readonly hasRead: boolean
}

/** Events that one step of a search read, grouped by filter, and the search's progress. */
export type SearchStep = {
  readonly logs: readonly Log[][]
  readonly search: LogSearch | undefined
  /** `more`: another step is needed. `paused`: this poll has no calls left. `complete`: all blocks are read. */
  readonly progress: 'more' | 'paused' | 'complete'
}

/**
 * Reads the next events of a search: first the blocks that are new since the last poll, then older blocks back to the
 * time `since`. Tries again with fewer blocks if a node refuses. If the new blocks do not fit into one request, the
 * search restarts at the newest block. Throws `upstream_*`, also if a node refuses even one block.
 */
export async function readNextEvents(
  reader: ChainReader,
  budget: Budget,
  search: LogSearch | undefined,
  { filters, head, since, reserved = 0, maxRanges = Infinity, hasRead }: Options,
): Promise<SearchStep> {
  let span = search?.span
  let isReasoned = true
  for (let tried = span ?? RANGE_SIZES[0]; ; ) {
    const affordable = Math.max(1, Math.floor((budget.left(reserved) - 1) / filters.length))
    const most = BigInt(span === undefined ? 1 : Math.min(affordable, maxRanges))
    const isNew = search !== undefined && search.high < head.number && head.number - search.high <= most * tried
    const begun = search && (isNew || search.high >= head.number) ? search : undefined
    const [low, high] = isNew
      ? [search.high + 1n, head.number]
      : [max(0n, (begun?.low ?? head.number + 1n) - most * tried), (begun?.low ?? head.number + 1n) - 1n]
    if (high < low) return { logs: filters.map(() => []), search, progress: 'complete' }
    const ranges = rangesOf(low, high, tried, Number(most))
    const requests = filters.flatMap((filter) => ranges.map((range) => logsRequest(filter, range)))
    // The time of the block `low` shows if older blocks must be searched. Without a spare call for that block, the
    // search goes on to older blocks.
    const hasHeader = !isNew && low > 0n && budget.left(reserved) > requests.length
    const headers = hasHeader ? [blockRequest(low)] : []
    if (!budget.reaches(requests.length, reserved)) {
      if (!isReasoned && !hasRead) throw refused()
      const none = { low: head.number + 1n, high: head.number }
      return { logs: filters.map(() => []), search: { ...(search ?? none), ...(span && { span }) }, progress: 'paused' }
    }
    const outcomes = await budget.ask(reader, [...requests, ...headers])
    const refusal = outcomes.slice(0, requests.length).find((outcome) => 'error' in outcome)
    if (refusal) {
      const smaller = nextSmallerRange(tried, refusal.error)
      if (smaller === undefined) throw refused()
      tried = smaller
      isReasoned = refusal.error.refusal !== undefined && refusal.error.refusal !== 'unserved'
      if (isReasoned) span = smaller
      continue
    }
    const logs = filters.map((_, index) =>
      outcomes
        .slice(index * ranges.length, (index + 1) * ranges.length)
        .flatMap((one) => parseResult(z.array(Log), one)),
    )
    const lowest = isNew ? search.low : low
    const [header] = headers.length > 0 ? outcomes.slice(-1) : []
    const isOver = lowest === 0n || (header && parseResult(BlockHeader, header).timestamp < since)
    return {
      logs,
      // Block 0 as the lower end means that the search has nothing left to read.
      search: { low: isOver ? 0n : lowest, high: begun?.high && !isNew ? begun.high : high, span: tried },
      progress: isOver ? 'complete' : 'more',
    }
  }
}

/** Returns the number of blocks to request after a node refused `tried` blocks; undefined if a smaller number cannot help. */
function nextSmallerRange(tried: bigint, { refusal, blocks }: RpcError): bigint | undefined {
  if (refusal === 'archive' || refusal === 'unsupported') return undefined
  if (blocks !== undefined && BigInt(blocks) < tried) return blocks > 0 ? BigInt(blocks) : undefined
  return RANGE_SIZES.find((span) => span < tried)
}

function refused() {
  return badResponse('a range of logs was refused')
}
