import { type Address, type Hash, type Hex, isAddress, isHash, isHex, numberToHex } from 'viem'
import * as z from 'zod'
import { AppError } from '../errors.ts'
import type { Rpc, RpcOutcome, RpcRequest } from './rpc.ts'

const HexText = z.custom<Hex>((value) => isHex(value))
const HashText = z.custom<Hash>((value) => typeof value === 'string' && isHash(value))
const AddressText = z.custom<Address>((value) => typeof value === 'string' && isAddress(value, { strict: false }))
const Quantity = HexText.transform((text) => BigInt(text))

/** An event of a contract, undecoded. */
export const Log = z.object({
  address: AddressText,
  topics: z.tuple([HashText], HashText).or(z.tuple([])),
  data: HexText,
  logIndex: Quantity.transform(Number),
  blockNumber: Quantity,
  transactionHash: HashText,
  /** Seconds since 1970, from nodes that tell it with the event. */
  blockTimestamp: Quantity.optional(),
})
export type Log = z.output<typeof Log>

/** What became of a transaction. */
export const Receipt = z.object({
  status: Quantity.transform((status) => (status === 1n ? ('success' as const) : ('reverted' as const))),
  blockNumber: Quantity,
  transactionHash: HashText,
  logs: z.array(Log),
})
export type Receipt = z.output<typeof Receipt>

/** A block's number and its time in seconds since 1970. */
export const BlockHeader = z.object({ number: Quantity, timestamp: Quantity })
export type BlockHeader = z.output<typeof BlockHeader>

/** Which events: of these contracts, by topics (null for any, a list for any of it). */
export type LogFilter = {
  readonly address: Address | readonly Address[]
  readonly topics: readonly (Hex | readonly Hex[] | null)[]
}

/** The call for a transaction's receipt; the node answers null for one that it does not know. */
export function receiptRequest(hash: Hash): RpcRequest {
  return { method: 'eth_getTransactionReceipt', params: [hash] }
}

/** The call for a block's header. */
export function blockRequest(block: bigint | 'latest' | 'safe' | 'finalized'): RpcRequest {
  return { method: 'eth_getBlockByNumber', params: [typeof block === 'bigint' ? numberToHex(block) : block, false] }
}

/** The result of a call in the form that the schema says; throws `upstream_bad_answer` for anything else. */
export function parseResult<Schema extends z.ZodType>(
  schema: Schema,
  outcome: RpcOutcome | undefined,
): z.output<Schema> {
  const parsed = schema.safeParse(outcome && 'result' in outcome ? outcome.result : undefined)
  if (!parsed.success) throw new AppError('upstream_bad_answer', { cause: new Error('a result of another shape') })
  return parsed.data
}

/** Nodes limit how many blocks one call may ask for, or events; the next smaller range is tried where one refuses. */
const RANGES = [10_000n, 1_000n, 100n, 10n, 1n] as const
/** A node that refuses as many calls for as few blocks, and all of them, has another reason. */
const REFUSED = { calls: 10, blocks: 1_000n }

/**
 * All events of the filter in these blocks, both ends included, in order. One round trip, and others where the
 * node refuses the larger ranges; nothing is ever skipped. Throws `upstream_*`.
 */
export async function readLogs(rpc: Rpc, filter: LogFilter, from: bigint, to: bigint): Promise<Log[]> {
  return readRanges(rpc, filter, [[from, to]], RANGES[0])
}

type Range = readonly [from: bigint, to: bigint]

async function readRanges(rpc: Rpc, filter: LogFilter, ranges: readonly Range[], size: bigint): Promise<Log[]> {
  const pieces = ranges.flatMap((range) => split(range, size))
  if (pieces.length === 0) return []
  const outcomes = await rpc(
    pieces.map(([from, to]) => ({
      method: 'eth_getLogs',
      params: [{ ...filter, fromBlock: numberToHex(from), toBlock: numberToHex(to) }],
    })),
  )
  const areAllRefused = outcomes.every((outcome) => 'error' in outcome)
  if (areAllRefused && pieces.length >= REFUSED.calls && size <= REFUSED.blocks) throw refused()
  const read = await Promise.all(
    // Async, so that one piece's failure leaves no other piece's unhandled.
    outcomes.map(async (outcome, index) => {
      const piece = pieces[index]
      if (!('error' in outcome) || !piece) return parseResult(z.array(Log), outcome)
      const smaller = RANGES.find((range) => range < piece[1] - piece[0] + 1n)
      if (smaller === undefined) throw refused()
      return readRanges(rpc, filter, [piece], smaller)
    }),
  )
  return read.flat()
}

function refused(): AppError {
  return new AppError('upstream_bad_answer', { cause: new Error('a range of logs was refused') })
}

function split([from, to]: Range, size: bigint): Range[] {
  const pieces: Range[] = []
  for (let start = from; start <= to; start += size) {
    const end = start + size - 1n
    pieces.push([start, end < to ? end : to])
  }
  return pieces
}

/** The times of logs' blocks, in seconds since 1970: one request where the node does not tell them with the logs. Throws `upstream_*`. */
export async function readTimestamps(rpc: Rpc, logs: readonly Log[]): Promise<(log: Log) => bigint> {
  const untold = [...new Set(logs.filter((log) => log.blockTimestamp === undefined).map((log) => log.blockNumber))]
  const outcomes = untold.length > 0 ? await rpc(untold.map(blockRequest)) : []
  const times = new Map(untold.map((number, index) => [number, parseResult(BlockHeader, outcomes[index]).timestamp]))
  return ({ blockNumber, blockTimestamp }) => blockTimestamp ?? times.get(blockNumber) ?? 0n
}
