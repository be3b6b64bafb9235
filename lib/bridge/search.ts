import * as z from 'zod'
import { foundBlock, narrowBlockSearch, nextLook, startBlockSearch } from '../chain/blocks.ts'
import { BlockHeader, blockRequest, Log, type LogFilter, logsRequest, parseResult, type Range } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { RpcError } from '../chain/rpc.ts'
import { badAnswer } from '../errors.ts'
import type { Budget } from './poll.ts'
import type { LogSearch } from './transfer.ts'

/** The most blocks that are asked for in one call, and the next smaller numbers for nodes that refuse without a number. */
const SPANS = [10_000n, 500n, 10n, 1n] as const

/** A search that begins at the block of a time, in seconds since 1970, which `head` is not before. */
export function startLogSearch({ chain }: ChainReader, head: BlockHeader): LogSearch {
  return { start: startBlockSearch(head, chain.blockSeconds) }
}

/** The search with the first block found that is not before the time, or as far as the budget reaches. Throws `upstream_*`. */
export async function findFirstBlock<S extends LogSearch>(
  reader: ChainReader,
  budget: Budget,
  search: S,
  time: bigint,
): Promise<S> {
  const { start: unfinished, ...rest } = search
  if (!unfinished) return search
  let start = unfinished
  for (let number = nextLook(start, time); number !== undefined; number = nextLook(start, time)) {
    if (!budget.reaches(1)) return { ...search, start }
    const [outcome] = await budget.ask(reader, [blockRequest(number)])
    start = narrowBlockSearch(start, time, { number, timestamp: parseResult(BlockHeader, outcome).timestamp })
  }
  // `start` is optional in every search, which the type of what is left without it does not say.
  return { ...rest, next: foundBlock(start) } as S
}

type Ranges = {
  readonly filters: readonly LogFilter[]
  /** How many blocks the node takes in one call, where that is known. */
  readonly span: bigint | undefined
  /** The ranges to read, of `span` blocks each, at most so many. */
  readonly rangesFor: (span: bigint, most: number) => readonly Range[]
  /** The block at which the ranges end at the latest. */
  readonly end: BlockHeader
  /** How many requests of one call are to come after. */
  readonly reserved?: number
  /** Whether this poll has read events before, so that a refusal without a reason, which may pass, is no error. */
  readonly hasRead: boolean
}

/** What was read: for each filter its events, the header of the last block of them all, and the span that the node took. */
type Read = { readonly logs: readonly Log[][]; readonly last: BlockHeader; readonly span: bigint }

/** Nothing was read: the budget does not reach, if need be for the smaller `span` that the node asked for. */
type Unread = { readonly span: bigint | undefined }

/** The events of these filters in these ranges. Throws `upstream_*`, also when the node refuses a single block. */
export async function readRanges(
  reader: ChainReader,
  budget: Budget,
  { filters, span, rangesFor, end, reserved, hasRead }: Ranges,
): Promise<Read | Unread> {
  let tried = span ?? SPANS[0]
  let isProven = span !== undefined
  let isReasoned = true
  let known = span
  for (;;) {
    const most = Math.max(1, Math.floor((budget.left(reserved) - 1) / filters.length))
    const ranges = rangesFor(tried, isProven ? most : 1)
    const requests = ranges.flatMap((range) => filters.map((filter) => logsRequest(filter, range)))
    const lastBlock = ranges.at(-1)?.[1] ?? end.number
    const headers = lastBlock === end.number ? [] : [blockRequest(lastBlock)]
    if (!budget.reaches(requests.length + headers.length, reserved)) {
      if (!isReasoned && !hasRead) throw refused()
      return { span: known }
    }
    const outcomes = await budget.ask(reader, [...requests, ...headers])
    const refusal = outcomes.slice(0, requests.length).find((outcome) => 'error' in outcome)
    if (!refusal) {
      const logs = filters.map((_, index) =>
        ranges.flatMap((_, range) => parseResult(z.array(Log), outcomes[range * filters.length + index])),
      )
      const { timestamp } = headers.length > 0 ? parseResult(BlockHeader, outcomes.at(-1)) : end
      return { logs, last: { number: lastBlock, timestamp }, span: tried }
    }
    const smaller = smallerSpan(tried, refusal.error)
    if (smaller === undefined) throw refused()
    tried = smaller
    isReasoned = refusal.error.refusal !== undefined && refusal.error.refusal !== 'unserved'
    if (isReasoned) known = smaller
    isProven = false
  }
}

/** Of how many blocks to ask for events after a refusal of so many; undefined where fewer will not help. */
function smallerSpan(tried: bigint, { refusal, blocks }: RpcError): bigint | undefined {
  if (refusal === 'archive' || refusal === 'unsupported') return undefined
  if (blocks !== undefined && BigInt(blocks) < tried) return blocks > 0 ? BigInt(blocks) : undefined
  return SPANS.find((span) => span < tried)
}

function refused() {
  return badAnswer('a range of logs was refused')
}
