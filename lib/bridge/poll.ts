import type { Hash, Hex } from 'viem'
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
import { buildReadPlan, type ChainReader } from '../chain/reader.ts'
import type { RpcOutcome, RpcRequest } from '../chain/rpc.ts'
import { max, min } from '../core/bigint.ts'
import { AppError, badAnswer } from '../core/errors.ts'
import { toDate } from '../core/time.ts'
import { poolAbi } from './abi.ts'
import type { FetchHint } from './across.ts'
import { OUTCOMES } from './timeline.ts'
import type { Outcome, Transfer, TransferEvent } from './transfer.ts'

/** One poll of a transfer: services, budget and evidence. */
export type Poll = {
  readonly getReader: (chainId: number) => ChainReader
  readonly fetchHint: FetchHint
  readonly budget: Budget
  /** Blocks at which the chains were read so far, by chain id. */
  readonly evidence: Map<number, Evidence>
  /** True if the poll records its results. Only then can a search without a result be final. */
  readonly isRecorded: boolean
}

/** Result of a poll: the transfer's new record and outcome. `isFinal` is false while a reorganisation can change them. */
export type PollResult = { readonly keep: Transfer; readonly outcome: Outcome; readonly isFinal: boolean }

const MAX_REQUESTS = 6
/** Maximum number of calls of one poll, to all chains together. */
export const MAX_CALLS = 8

/** Requests and calls left to one poll. */
export type Budget = ReturnType<typeof createBudget>

/** Creates the budget of one poll: at most 6 requests, with at most 8 calls (or `most`, if less) in total. */
export function createBudget(most: number = MAX_CALLS, bounds = { requests: MAX_REQUESTS, calls: MAX_CALLS }) {
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
    if (!reaches(calls)) throw new AppError('internal', { cause: new Error('the budget of the poll is exceeded') })
    requestsLeft -= 1
    callsLeft -= calls
  }

  return {
    /** Returns the calls available to the next request if `reserved` requests of one call follow it; 0 if none is. */
    left,
    /** Returns true if this many calls are left; else notes that the budget ran short. */
    reaches,
    /** Returns true if this reduced budget ran short. A whole budget never does. */
    isShort: () => isShort && most < bounds.calls,
    /** Counts a request with this many calls. Throws `internal` if the budget does not allow it. */
    spend,
    spent: () => whole - callsLeft,
    /** Sends these calls in one request and returns their outcomes. Throws `upstream_*`, and as `spend`. */
    async ask(reader: ChainReader, requests: readonly RpcRequest[]): Promise<RpcOutcome[]> {
      spend(requests.length)
      return reader.request(requests)
    },
  }
}

/** Notes a chain's head as evidence, from the outcome of the call for it. Throws `upstream_bad_answer`. */
export function recordHead({ evidence }: Poll, { chain, nodes }: ChainReader, latest: RpcOutcome | undefined): void {
  const head = parseResult(HashedHeader, latest)
  evidence.set(chain.id, { chainId: chain.id, ...toBlockFields(head), blockHash: head.hash, nodes })
}

/** Builds the result of a poll. It is final only if the outcome is terminal. */
export function conclude(keep: Transfer, outcome: Outcome, isFinal = false): PollResult {
  return { keep, outcome, isFinal: isFinal && OUTCOMES[outcome].terminal }
}

/** Returns the transfer with its events of these kinds replaced. The deposit's event stays first. */
export function withEvents(
  transfer: Transfer,
  kinds: readonly TransferEvent['kind'][],
  events: readonly TransferEvent[],
): Transfer {
  const [deposited, ...others] = transfer.events
  return { ...transfer, events: [deposited, ...others.filter(({ kind }) => !kinds.includes(kind)), ...events] }
}

/** Returns the bridge's contracts on a chain. Throws `internal` for a chain without the bridge. */
export function getBridge({ chain }: ChainReader) {
  if (!chain.bridge) throw new AppError('internal', { cause: new Error(`There is no bridge on chain ${chain.id}.`) })
  return chain.bridge
}

/** Fill statuses of the pool: a slow fill is requested, and filled. */
export const SLOW_FILL_REQUESTED = 1n
export const FILLED = 2n

/**
 * Reads the fill statuses of deposits from the destination's pool, by relay hash, in one call at one block. A status is 0 if
 * unfilled, undefined if the pool returns none. The block's hash takes a second call. Throws `upstream_*`.
 */
export function readFillStatuses(destination: ChainReader, relayHashes: readonly Hex[], { withHash = false } = {}) {
  const { pool: address } = getBridge(destination)
  const plans = relayHashes.map((relayHash) => {
    const calls = { status: call(address, poolAbi, 'fillStatuses', [relayHash]) }
    return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => answers.status)
  })
  return destination.read(plans, { withHash })
}

/** Parses the receipt of this transaction; null if the node has none. Throws `upstream_bad_answer` for another's receipt. */
export function parseReceipt(outcome: RpcOutcome | undefined, hash: Hash): Receipt | null {
  const receipt = parseResult(Receipt.nullable(), outcome)
  if (receipt && receipt.transactionHash !== hash) throw badAnswer('a receipt of another transaction')
  return receipt
}

/** Reads the time of a block from its logs, or with one call if they lack it. Throws `upstream_*`. */
export async function readTime(
  { budget }: Pick<Poll, 'budget'>,
  reader: ChainReader,
  logs: readonly Log[],
  blockNumber: bigint,
) {
  const logTimestamp = logs.find(
    (log) => log.blockNumber === blockNumber && log.blockTimestamp !== undefined,
  )?.blockTimestamp
  const outcomes = logTimestamp === undefined ? await budget.ask(reader, [blockRequest(blockNumber)]) : []
  return toDate(logTimestamp ?? parseResult(BlockHeader, outcomes[0]).timestamp)
}

/**
 * Distances before the chain's tag at which to read blocks for a final one; each takes the smaller of its two values. `ofTime`
 * times the registry's finality seconds, at the chain's usual pace; or the blocks since the known final block, divided by `ofRest`.
 */
const PROBES = [
  { ofTime: 1.25, ofRest: 4n },
  { ofTime: 10, ofRest: 2n },
]
const NEAR_BLOCKS = 4n

/**
 * Finds the newest final block with at most one request: the block of the chain's tag, or one of three before it. Returns the
 * known one, or block 0, if none of them is old enough: a later poll finds it. Throws `upstream_*`.
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
  // Leaves one call for the read that needs the final block.
  numbers.splice(Math.max(0, budget.left() - 1))
  const outcomes = numbers.length > 0 ? await budget.ask(source, numbers.map(blockRequest)) : []
  const old = outcomes.map((outcome) => parseResult(BlockHeader, outcome)).filter(isFinal)
  return old.reduce((one, other) => (one.number > other.number ? one : other), known)
}
