import * as z from 'zod'
import { max } from '../bigint.ts'
import { BlockHeader, blockRequest, Log, type LogFilter, logsRequest, parseResult, rangesOf } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { RpcError } from '../chain/rpc.ts'
import { badAnswer } from '../errors.ts'
import type { Budget } from './poll.ts'
import type { LogSearch } from './transfer.ts'

/** Blocks of one call for events, and the next smaller numbers if a node refuses without a number. Our filters are rare events. */
const SPANS = [1_000_000n, 10_000n, 500n, 10n, 1n] as const

type Options = {
  readonly filters: readonly LogFilter[]
  /** The newest block to read. */
  readonly head: BlockHeader
  /** Older blocks are not read; seconds since 1970. */
  readonly since: bigint
  /** Requests of one call that come after. */
  readonly reserved?: number
  /** Ranges that one request asks for at most. */
  readonly maxRanges?: number
  /** True if this poll has read events, so that a refusal without a reason, which may pass, only pauses the search. */
  readonly hasRead: boolean
}

/** The events of each filter that a step read, and how far the search is. */
export type Step = {
  readonly logs: readonly Log[][]
  readonly search: LogSearch | undefined
  /** `more`: call again. `paused`: the budget of this poll is spent. `complete`: all blocks are read. */
  readonly progress: 'more' | 'paused' | 'complete'
}

/**
 * Reads the next events of a search in one request: first the blocks that are new since the last poll, then back to the time
 * `since`. If there are too many new blocks for one request, the search begins anew at the head. Throws `upstream_*`, also if a
 * node refuses a single block.
 */
export async function stepBack(
  reader: ChainReader,
  budget: Budget,
  search: LogSearch | undefined,
  { filters, head, since, reserved = 0, maxRanges = Infinity, hasRead }: Options,
): Promise<Step> {
  let span = search?.span
  let isReasoned = true
  for (let tried = span ?? SPANS[0]; ; ) {
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
    // Without a call left for it, the next step shows whether older blocks are needed.
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
      const smaller = smallerSpan(tried, refusal.error)
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
      // Below 0 there is nothing left to read.
      search: { low: isOver ? 0n : lowest, high: begun?.high && !isNew ? begun.high : high, span: tried },
      progress: isOver ? 'complete' : 'more',
    }
  }
}

/** The number of blocks to ask for after a refusal of so many; undefined if fewer do not help. */
function smallerSpan(tried: bigint, { refusal, blocks }: RpcError): bigint | undefined {
  if (refusal === 'archive' || refusal === 'unsupported') return undefined
  if (blocks !== undefined && BigInt(blocks) < tried) return blocks > 0 ? BigInt(blocks) : undefined
  return SPANS.find((span) => span < tried)
}

function refused() {
  return badAnswer('a range of logs was refused')
}
