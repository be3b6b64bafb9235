import type { Hash, Hex } from 'viem'
import { max, min } from '../bigint.ts'
import { call } from '../chain/call.ts'
import type { Evidence } from '../chain/evidence.ts'
import type { Finality } from '../chain/finality.ts'
import {
  BlockHeader,
  blockRequest,
  HashedHeader,
  type Log,
  parseResult,
  Receipt,
  toBlockFields,
} from '../chain/logs.ts'
import { type ChainReader, readPlan } from '../chain/reader.ts'
import type { RpcOutcome, RpcRequest } from '../chain/rpc.ts'
import { AppError, badAnswer } from '../errors.ts'
import { toDate } from '../time.ts'
import { poolAbi } from './abi.ts'
import type { FetchHint } from './across.ts'
import { OUTCOMES } from './timeline.ts'
import type { Outcome, Transfer, TransferEvent } from './transfer.ts'

/** Services, budget and evidence of one poll. */
export type Poll = {
  readonly getReader: (chainId: number) => ChainReader
  readonly fetchHint: FetchHint
  readonly budget: Budget
  /** The blocks at which the chains were read so far, by chain id. */
  readonly evidence: Map<number, Evidence>
  /** True if what is read is recorded: only then a search without a result can be final. */
  readonly isRecorded: boolean
}

/** Result of a poll: the transfer's new record, its outcome, and false while a reorganisation can change that. */
export type Seen = { readonly keep: Transfer; readonly outcome: Outcome; readonly isFinal: boolean }

const MOST_REQUESTS = 6
/** Calls that one poll may send to all chains together. */
export const MOST_CALLS = 8

/** The requests and calls that are left to one poll. */
export type Budget = ReturnType<typeof createBudget>

/** The budget of one poll: at most 6 requests, one after the other or not, with at most 8 calls, or `most`, in all. */
export function createBudget(most: number = MOST_CALLS, bounds = { requests: MOST_REQUESTS, calls: MOST_CALLS }) {
  const whole = Math.min(most, bounds.calls)
  let requestsLeft = bounds.requests
  let callsLeft = whole
  let isShort = false

  const left = (reserved = 0) => (requestsLeft > reserved ? Math.max(0, callsLeft - reserved) : 0)
  const reaches = (calls: number, reserved = 0) => {
    const isEnough = calls <= left(reserved)
    isShort ||= !isEnough
    return isEnough
  }
  const spend = (calls: number) => {
    if (!reaches(calls)) throw new AppError('internal', { cause: new Error('a poll sends no more calls than these') })
    requestsLeft -= 1
    callsLeft -= calls
  }

  return {
    /** Calls that the next request may have if so many requests of one call come after it; 0 for no request. */
    left,
    /** True if so many calls are left. */
    reaches,
    /** True if this budget did not suffice where a whole one would have. */
    isShort: () => isShort && most < bounds.calls,
    /** Counts a request with so many calls. Throws `internal` where there may be none. */
    spend,
    /** Calls that were sent. */
    spent: () => whole - callsLeft,
    /** The outcomes of these calls, in one request. Throws `upstream_*`. */
    async ask(reader: ChainReader, requests: readonly RpcRequest[]): Promise<RpcOutcome[]> {
      spend(requests.length)
      return reader.request(requests)
    },
  }
}

/** Notes the head at which a chain is read, as the outcome of the call for it tells it. Throws `upstream_bad_answer`. */
export function noteHead({ evidence }: Poll, { chain, nodes }: ChainReader, latest: RpcOutcome | undefined): void {
  const head = parseResult(HashedHeader, latest)
  evidence.set(chain.id, { chainId: chain.id, ...toBlockFields(head), blockHash: head.hash, nodes })
}

/** The result of a poll with this outcome. */
export function conclude(keep: Transfer, outcome: Outcome, isFinal = false): Seen {
  return { keep, outcome, isFinal: isFinal && OUTCOMES[outcome].terminal }
}

/** The transfer with these events in place of those of the same kinds. */
export function withEvents(
  transfer: Transfer,
  kinds: readonly TransferEvent['kind'][],
  events: readonly TransferEvent[],
): Transfer {
  const [deposited, ...others] = transfer.events
  return { ...transfer, events: [deposited, ...others.filter(({ kind }) => !kinds.includes(kind)), ...events] }
}

/** The bridge's contracts on a chain; throws `internal` where it does not go. */
export function getBridge({ chain }: ChainReader) {
  if (!chain.bridge) throw new AppError('internal', { cause: new Error(`There is no bridge on chain ${chain.id}.`) })
  return chain.bridge
}

/** The pool's statuses of a deposit for which a slow fill is requested, and of one that is filled. */
export const SLOW_FILL_REQUESTED = 1n
export const FILLED = 2n

/**
 * What the destination's pool says of deposits by their relay hashes, as one call of one block: 0 for one that is not
 * filled, undefined where it says nothing; with the block's hash it is two calls. Throws `upstream_*`.
 */
export function readFillStatuses(destination: ChainReader, relayHashes: readonly Hex[], { withHash = false } = {}) {
  const { pool: address } = getBridge(destination)
  const plans = relayHashes.map((relayHash) => {
    const calls = { status: call(address, poolAbi, 'fillStatuses', [relayHash]) }
    return readPlan({ address, slots: {}, calls }, ({ answers }) => answers.status)
  })
  return destination.read(plans, { withHash })
}

/** The receipt of this transaction, null where the node has none; throws `upstream_bad_answer` when it is of another. */
export function parseReceipt(outcome: RpcOutcome | undefined, hash: Hash): Receipt | null {
  const receipt = parseResult(Receipt.nullable(), outcome)
  if (receipt && receipt.transactionHash !== hash) throw badAnswer('a receipt of another transaction')
  return receipt
}

/** The time of a block: as its logs tell it, or by one call. Throws `upstream_*`. */
export async function readTime(
  { budget }: Pick<Poll, 'budget'>,
  reader: ChainReader,
  logs: readonly Log[],
  blockNumber: bigint,
) {
  const told = logs.find((log) => log.blockNumber === blockNumber && log.blockTimestamp !== undefined)?.blockTimestamp
  const outcomes = told === undefined ? await budget.ask(reader, [blockRequest(blockNumber)]) : []
  return toDate(told ?? parseResult(BlockHeader, outcomes[0]).timestamp)
}

/**
 * Blocks that are read for a final one: as many before the tag as the usual pace makes in these parts of the time that the registry
 * asks for, or these parts of those since the last known final block; and a few before the tag.
 */
const PROBES = [
  { ofTime: 1.25, ofRest: 4n },
  { ofTime: 10, ofRest: 2n },
]
const NEAR_BLOCKS = 4n

/**
 * A final block, as new as one request shows: the block of the chain's tag if it is old enough, else one of three before it.
 * Returns the known one, or block 0, if none of them is old enough: a later poll finds it. Throws `upstream_*`.
 */
export async function findFinalBlock(
  { budget }: Pick<Poll, 'budget'>,
  source: ChainReader,
  { head, tagged = head, isFinal }: Finality,
  known: BlockHeader = { number: 0n, timestamp: 0n },
): Promise<BlockHeader> {
  if (isFinal(tagged)) return tagged
  const { blockSeconds, finality } = source.chain
  const blocks = PROBES.map(({ ofTime, ofRest }) =>
    min(BigInt(Math.ceil((ofTime * finality.seconds) / blockSeconds)), (tagged.number - known.number) / ofRest),
  )
  const numbers = [NEAR_BLOCKS, ...blocks].map((count) => max(0n, tagged.number - count))
  // A call is left for what the block is for.
  numbers.splice(Math.max(0, budget.left() - 1))
  const outcomes = numbers.length > 0 ? await budget.ask(source, numbers.map(blockRequest)) : []
  const old = outcomes.map((outcome) => parseResult(BlockHeader, outcome)).filter(isFinal)
  return old.reduce((one, other) => (one.number > other.number ? one : other), known)
}
