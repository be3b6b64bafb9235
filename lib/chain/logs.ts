import { type Address, type Hash, type Hex, isAddress, numberToHex } from 'viem'
import * as z from 'zod'
import { max, min } from '../core/bigint.ts'
import { type AppError, badResponse } from '../core/errors.ts'
import { toDate } from '../core/time.ts'
import { BlockTime, HashText, HexText, Quantity } from './hex.ts'
import type { Rpc, RpcError, RpcOutcome, RpcRequest } from './rpc.ts'

const AddressText = z.custom<Address>((value) => typeof value === 'string' && isAddress(value, { strict: false }))

/** An event of a contract, undecoded. */
export const Log = z.object({
  address: AddressText,
  topics: z.tuple([HashText], HashText).or(z.tuple([])),
  data: HexText,
  logIndex: Quantity.transform(Number),
  blockNumber: Quantity,
  transactionHash: HashText,
  /** Hash of the block that contains the event. */
  blockHash: HashText.optional(),
  /**
   * Block time in seconds since 1970, if the node returns it with the event. Wrong times of some nodes, such as 0x0,
   * become undefined.
   */
  blockTimestamp: BlockTime.refine((time) => time > 0n)
    .optional()
    .catch(undefined),
})
export type Log = z.output<typeof Log>

/** Receipt of a transaction. */
export const Receipt = z.object({
  status: Quantity.transform((status) => (status === 1n ? ('success' as const) : ('reverted' as const))),
  blockNumber: Quantity,
  blockHash: HashText,
  transactionHash: HashText,
  logs: z.array(Log),
})
export type Receipt = z.output<typeof Receipt>

/** A block's number and its time in seconds since 1970. */
export const BlockHeader = z.object({ number: Quantity, timestamp: BlockTime })
export type BlockHeader = z.output<typeof BlockHeader>

/** A block header with the block's own hash and its parent's hash. */
export const HashedHeader = BlockHeader.extend({ hash: HashText, parentHash: HashText })
export type HashedHeader = z.output<typeof HashedHeader>

/** Converts a block's number and time to the fields of stored items and responses. */
export function toBlockFields({ number, timestamp }: BlockHeader): { blockNumber: number; timestamp: Date } {
  return { blockNumber: Number(number), timestamp: toDate(timestamp) }
}

/** Returns the lower of two blocks of one chain; the second if they have one number. */
export function lowerBlock<Block extends BlockHeader>(left: Block, right: Block): Block {
  return left.number < right.number ? left : right
}

const BlockReceipts = z.array(Receipt.pick({ logs: true }))

/** Compares two events of one chain by block and position, for sorting. */
export function compareLocation(left: LogLocation, right: LogLocation): number {
  return Number(left.blockNumber - right.blockNumber) || left.logIndex - right.logIndex
}

/** Position of an event in the order of its chain. */
export type LogLocation = Pick<Log, 'blockNumber' | 'logIndex'>

/** Filter of events by contracts and by topics. A null topic matches any topic, and a list matches each of its topics. */
export type LogFilter = {
  readonly address: Address | readonly Address[]
  readonly topics: readonly (Hex | readonly Hex[] | null)[]
}

/** Returns the request for a transaction's receipt. The node returns null for an unknown transaction. */
export function receiptRequest(hash: Hash): RpcRequest {
  return { method: 'eth_getTransactionReceipt', params: [hash] }
}

/** Returns the request for a block's header, by number or tag. */
export function blockRequest(block: bigint | 'latest' | 'safe' | 'finalized'): RpcRequest {
  return { method: 'eth_getBlockByNumber', params: [typeof block === 'bigint' ? numberToHex(block) : block, false] }
}

/**
 * Parses the result of an RPC request with this schema. Throws `upstream_bad_answer` for an error, or for a result of
 * another shape.
 */
export function parseResult<Schema extends z.ZodType>(
  schema: Schema,
  outcome: RpcOutcome | undefined,
): z.output<Schema> {
  const parsed = schema.safeParse(outcome && 'result' in outcome ? outcome.result : undefined)
  if (!parsed.success) throw badResponse('a result of another shape')
  return parsed.data
}

/** Maximum blocks of one eth_getLogs call, until a node accepts only fewer. */
const MAX_BLOCKS = 10_000n
/** Maximum number of concurrent eth_getLogs calls while they return few events. */
const MAX_CALLS = 16
/**
 * Maximum bytes of one eth_getLogs response. A larger one is read in smaller ranges, because parsed events take several
 * times as much memory.
 */
const MAX_BYTES = 8 * 2 ** 20
/**
 * Number of events that one batch of eth_getLogs calls should return. The previous batch predicts the number of events
 * per block.
 */
const EVENTS_OF_ROUND = 5_000
/** Number of events in one batch of eth_getLogs calls above which the next batch has only one call. */
const MANY_EVENTS = 2_000

type LogsThrough = { readonly logs: Log[]; readonly through: bigint }

/**
 * Reads the events of the filter in order, and returns them with the last block read. Stops at block `to`, or earlier
 * once `enough` accepts the number of events so far. Ranges of blocks shrink to the nodes' limits, down to one block.
 * If one block has too many events, they are read from its receipts. Throws `upstream_*`.
 */
export async function readLogsUntil(
  rpc: Rpc,
  filter: LogFilter,
  from: bigint,
  to: bigint,
  enough: (events: number) => boolean,
): Promise<LogsThrough> {
  const logs: Log[] = []
  let next = from
  let size = MAX_BLOCKS
  let calls = MAX_CALLS
  while (next <= to && !(next > from && enough(logs.length))) {
    const round = await readRound(rpc, filter, { from: next, to, size, calls })
    for (const log of round.logs) logs.push(log)
    const read = round.through - next + 1n
    next = round.through + 1n
    // The next range has at most twice the blocks of the range just read, and fewer if blocks have many events.
    const sparse = (read * BigInt(EVENTS_OF_ROUND)) / BigInt(Math.max(1, round.logs.length))
    size = max(1n, [round.size * 2n, sparse, MAX_BLOCKS].reduce(min))
    calls = round.isCut || round.logs.length > MANY_EVENTS ? 1 : MAX_CALLS
  }
  return { logs, through: next - 1n }
}

type Round = { readonly from: bigint; readonly to: bigint; readonly size: bigint; readonly calls: number }

/**
 * Reads the next ranges of blocks concurrently. The returned `size` is the number of blocks per call that the node
 * accepts. `isCut` is true if a range had too many events.
 */
async function readRound(
  rpc: Rpc,
  filter: LogFilter,
  { from, to, size, calls }: Round,
): Promise<LogsThrough & { size: bigint; isCut: boolean }> {
  const ranges = rangesOf(from, to, size, calls)
  const requests = ranges.map((range) => logsRequest(filter, range))
  const outcomes = await rpc(requests, { mostBytes: MAX_BYTES })
  const logs: Log[] = []
  for (const [index, outcome] of outcomes.entries()) {
    // The cast is right: there is one outcome for each range.
    const [start, end] = ranges[index] as BlockRange
    if (!('error' in outcome)) {
      for (const log of parseResult(z.array(Log), outcome)) logs.push(log)
      continue
    }
    const smaller = sizeAfter(outcome.error, end - start + 1n)
    const isCut = outcome.error.refusal === 'results'
    if (smaller === undefined && !isCut) throw buildRefusedError(start, end)
    if (index > 0) return { logs, through: start - 1n, size: smaller ?? 1n, isCut }
    if (smaller === undefined) return { logs: await readFullBlock(rpc, filter, start), through: start, size: 1n, isCut }
    // After a range with too many events only one range is read, because later ranges would be refused too.
    return readRound(rpc, filter, { from, to, size: smaller, calls: isCut ? 1 : calls })
  }
  return { logs, through: ranges.at(-1)?.[1] ?? to, size, isCut: false }
}

/**
 * Reads the events of one block from its receipts, because nodes return at most 10,000 events per call. A block of 60
 * million gas has up to 20,000 share transfers of 600 bytes. That is below the response limit of 32 MiB.
 */
async function readFullBlock(rpc: Rpc, filter: LogFilter, block: bigint): Promise<Log[]> {
  const [outcome] = await rpc([{ method: 'eth_getBlockReceipts', params: [numberToHex(block)] }])
  if (!outcome || 'error' in outcome) throw buildRefusedError(block, block)
  const logs = parseResult(BlockReceipts, outcome).flatMap((receipt) => receipt.logs)
  if (logs.some(({ blockNumber }) => blockNumber !== block)) throw buildRefusedError(block, block)
  return logs.filter(matches(filter)).toSorted(compareLocation)
}

function matches({ address, topics }: LogFilter): (log: Log) => boolean {
  const addresses = new Set([address].flat().map((one) => one.toLowerCase()))
  const wanted = topics.map((one) => one && [one].flat().map((topic) => topic.toLowerCase()))
  return (log) =>
    addresses.has(log.address.toLowerCase()) &&
    wanted.every((any, index) => {
      const topic = log.topics[index]?.toLowerCase()
      return topic !== undefined && (any?.includes(topic) ?? true)
    })
}

function sizeAfter({ refusal, blocks }: RpcError, refusedSize: bigint): bigint | undefined {
  if (refusedSize <= 1n || refusal === 'archive' || refusal === 'unsupported') return undefined
  // A refusal without a reason shrinks the range of blocks to a tenth, any other refusal to half.
  const half = refusedSize / (refusal === undefined || refusal === 'unserved' ? 10n : 2n) || 1n
  if (blocks === undefined || BigInt(blocks) >= refusedSize) return half
  return max(1n, BigInt(blocks))
}

/** Range of block numbers, both ends included. */
export type BlockRange = readonly [from: bigint, to: bigint]

/** Cuts the blocks from `from` to `to` into ranges of `size` blocks, and returns at most the first `most` ranges. */
export function rangesOf(from: bigint, to: bigint, size: bigint, most: number): BlockRange[] {
  const ranges: BlockRange[] = []
  for (let start = from; start <= to && ranges.length < most; start += size) {
    ranges.push([start, min(start + size - 1n, to)])
  }
  return ranges
}

/** Returns the eth_getLogs request for the events of the filter in these blocks. */
export function logsRequest(filter: LogFilter, [from, to]: BlockRange): RpcRequest {
  return {
    method: 'eth_getLogs',
    params: [{ ...filter, fromBlock: numberToHex(from), toBlock: numberToHex(to) }],
  }
}

function buildRefusedError(from: bigint, to: bigint): AppError {
  return badResponse(`the logs of blocks ${from} to ${to} were refused`)
}

/**
 * Reads the block times of these logs. Returns a function that gives a log's time in seconds since 1970. That function
 * throws an Error for a log whose time is not known. Takes one request if the node omits times in logs, else none.
 * Throws `upstream_*`.
 */
export async function readTimestamps(rpc: Rpc, logs: readonly Log[]): Promise<(log: Log) => bigint> {
  const undated = [...new Set(logs.filter((log) => log.blockTimestamp === undefined).map((log) => log.blockNumber))]
  const outcomes = undated.length > 0 ? await rpc(undated.map(blockRequest)) : []
  const times = new Map(undated.map((number, index) => [number, parseResult(BlockHeader, outcomes[index]).timestamp]))
  return ({ blockNumber, blockTimestamp }) => {
    const time = blockTimestamp ?? times.get(blockNumber)
    if (time === undefined) throw new Error(`the time of block ${blockNumber} was not requested`)
    return time
  }
}

/**
 * Reads the hashes of blocks, by block number. The map lacks blocks that the node does not know. Takes at most one
 * request. Throws `upstream_*`.
 */
export async function readHashes(
  { request }: { readonly request: Rpc },
  numbers: readonly bigint[],
): Promise<ReadonlyMap<bigint, Hash>> {
  const unique = [...new Set(numbers)]
  const outcomes = unique.length > 0 ? await request(unique.map(blockRequest)) : []
  const headers = outcomes.flatMap(
    (outcome) => HashedHeader.safeParse('result' in outcome ? outcome.result : undefined).data ?? [],
  )
  return new Map(headers.map(({ number, hash }) => [number, hash]))
}
