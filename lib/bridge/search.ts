import * as z from 'zod'
import { foundBlock, narrowBlockSearch, nextLook, startBlockSearch } from '../chain/blocks.ts'
import { BlockHeader, blockRequest, Log, type LogFilter, logsRequest, parseResult, type Range } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { RpcError } from '../chain/rpc.ts'
import type { AppError } from '../errors.ts'
import { type Allowance, badAnswer, type Reserve } from './look.ts'
import type { LogSearch } from './transfer.ts'

/** The most blocks that are asked for in one call, and the next smaller numbers for nodes that refuse without a number. */
const SPANS = [10_000n, 500n, 10n, 1n] as const

/** What was read: for each filter its events, and the header of the last block of them all. */
export type Read = { readonly logs: readonly Log[][]; readonly last: BlockHeader; readonly span: bigint }

/** A search that begins at the block of a time, in seconds since 1970, which `head` is not before. */
export function startLogSearch({ chain }: ChainReader, head: BlockHeader): LogSearch {
  return { start: startBlockSearch(head, chain.blockSeconds) }
}

/** The search with its first block found, or as far as the allowance reaches. Throws `upstream_*`. */
export async function findFirstBlock<S extends LogSearch>(
  reader: ChainReader,
  allowance: Allowance,
  search: S,
  time: bigint,
): Promise<S> {
  const { start: unfinished, ...rest } = search
  if (!unfinished) return search
  let start = unfinished
  for (let number = nextLook(start, time); number !== undefined; number = nextLook(start, time)) {
    if (!allowance.reaches(1)) return { ...search, start }
    const [outcome] = await allowance.ask(reader, [blockRequest(number)])
    start = narrowBlockSearch(start, time, { number, timestamp: parseResult(BlockHeader, outcome).timestamp })
  }
  return { ...rest, next: foundBlock(start) } as S
}

/**
 * Nothing was read: the allowance did not reach, if need be for the smaller `span` that the node is thought to take, or
 * the node refused without a reason.
 */
type Unread = { readonly isRefused: boolean; readonly span: bigint | undefined }

/**
 * The events of these filters in ranges of blocks, which are named for the number of blocks that the node takes in one
 * call and the most ranges that may be asked for. Throws `upstream_*`, also when the node refuses a single block.
 */
export async function readRanges(
  reader: ChainReader,
  allowance: Allowance,
  {
    filters,
    span,
    rangesFor,
    end,
    reserved,
  }: {
    readonly filters: readonly LogFilter[]
    readonly span: bigint | undefined
    readonly rangesFor: (span: bigint, most: number) => readonly Range[]
    /** The block at which the ranges end at the latest. */
    readonly end: BlockHeader
    /** What is to be left for what comes after. */
    readonly reserved?: Reserve
  },
): Promise<Read | Unread> {
  let tried = span ?? SPANS[0]
  let isProven = span !== undefined
  let unread: Unread = { isRefused: false, span }
  for (;;) {
    const most = Math.max(1, Math.floor((allowance.left(reserved) - 1) / filters.length))
    const ranges = rangesFor(tried, isProven ? most : 1)
    const requests = ranges.flatMap((range) => filters.map((filter) => logsRequest(filter, range)))
    const lastBlock = ranges.at(-1)?.[1] ?? end.number
    const headers = lastBlock === end.number ? [] : [blockRequest(lastBlock)]
    if (!allowance.reaches(requests.length + headers.length, reserved)) return unread
    const outcomes = await allowance.ask(reader, [...requests, ...headers])
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
    // A refusal without a reason may pass.
    const isReasoned = refusal.error.refusal !== undefined
    unread = { isRefused: !isReasoned, span: isReasoned ? smaller : unread.span }
    isProven = false
  }
}

/** Of how many blocks to ask for events after a refusal of so many; undefined where fewer will not help. */
function smallerSpan(tried: bigint, { refusal, blocks }: RpcError): bigint | undefined {
  if (refusal === 'archive' || refusal === 'unsupported') return undefined
  if (blocks !== undefined && BigInt(blocks) < tried) return blocks > 0 ? BigInt(blocks) : undefined
  return SPANS.find((span) => span < tried)
}

/** Why a search cannot go on: the node refuses to tell events. */
export function refused(): AppError {
  return badAnswer('a range of logs was refused')
}
