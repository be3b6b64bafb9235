import type { Hash, Hex } from 'viem'
import { buildCall } from '../chain/call.ts'
import type { Evidence } from '../chain/evidence.ts'
import type { ChainFinality } from '../chain/finality.ts'
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
import { AppError, badResponse } from '../core/errors.ts'
import { toDate } from '../core/time.ts'
import { poolAbi } from './abi.ts'
import type { HintFetcher } from './across.ts'
import { STATUS_BY_OUTCOME } from './timeline.ts'
import type { Outcome, Transfer, TransferEvent } from './transfer.ts'

/** Context of one poll, a read of a transfer's state from the chains: services, the budget of RPC calls, and the blocks that were read. */
export type Poll = {
  readonly getReader: (chainId: number) => ChainReader
  readonly fetchHint: HintFetcher
  readonly budget: Budget
  /** Block at which this poll has read each chain, by chain id. */
  readonly evidence: Map<number, Evidence>
  /** True if the poll's results are stored. They are not stored if the RPC hosts disagree, and then no outcome is reported as final. */
  readonly isRecorded: boolean
}

/** Result of a poll: the transfer to store, and its outcome. `isFinal` is false while a chain reorganisation can change the outcome. */
export type PollResult = { readonly keep: Transfer; readonly outcome: Outcome; readonly isFinal: boolean }

const MAX_REQUESTS = 6
/** Maximum number of RPC calls of one poll (one read of a transfer's state), to all chains together. */
export const MAX_CALLS = 8

/** Number of RPC requests and calls that one poll may still make. */
export type Budget = ReturnType<typeof createBudget>

/** Creates the RPC budget of one poll: at most 6 requests with 8 calls in total, or with `most` calls if that is less. */
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
    /**
     * Returns the maximum number of calls in the next request; 0 if none. The budget then still suffices for `reserved`
     * further requests of one call each.
     */
    left,
    /** Returns true if the next request may contain this many calls. Otherwise calls are lacking, which `isShort` then reports. */
    reaches,
    /** Returns true if calls were lacking and this budget began with fewer calls than the usual maximum. */
    isShort: () => isShort && most < bounds.calls,
    /** Subtracts a request with this many calls from the budget. Throws `internal` if the budget is too small. */
    spend,
    spent: () => whole - callsLeft,
    /** Sends these calls in one request and returns the responses. Throws `upstream_*`, or `internal` if the budget is too small. */
    async ask(reader: ChainReader, requests: readonly RpcRequest[]): Promise<RpcOutcome[]> {
      spend(requests.length)
      return reader.request(requests)
    },
  }
}

/**
 * Sets the chain's latest block as the block at which this poll has read the chain (`evidence`). `latest` is the
 * response to the RPC call for that block. Throws `upstream_bad_answer`.
 */
export function recordHead({ evidence }: Poll, { chain, nodes }: ChainReader, latest: RpcOutcome | undefined): void {
  const head = parseResult(HashedHeader, latest)
  evidence.set(chain.id, { chainId: chain.id, ...toBlockFields(head), blockHash: head.hash, nodes })
}

/** Builds the result of a poll. It is final only if `isFinal` is true and the outcome is terminal. */
export function buildPollResult(keep: Transfer, outcome: Outcome, isFinal = false): PollResult {
  return { keep, outcome, isFinal: isFinal && STATUS_BY_OUTCOME[outcome].terminal }
}

/** Returns the transfer with `events` in place of its earlier events of these kinds. The deposit's event stays first. */
export function withEvents(
  transfer: Transfer,
  kinds: readonly TransferEvent['kind'][],
  events: readonly TransferEvent[],
): Transfer {
  const [deposited, ...others] = transfer.events
  return { ...transfer, events: [deposited, ...others.filter(({ kind }) => !kinds.includes(kind)), ...events] }
}

/** Returns the addresses of the bridge's contracts on a chain. Throws `internal` if the chain has no bridge contracts. */
export function getBridge({ chain }: ChainReader) {
  if (!chain.bridge) throw new AppError('internal', { cause: new Error(`There is no bridge on chain ${chain.id}.`) })
  return chain.bridge
}

/** Fill status of a deposit for which the pool will pay instead of a relayer. FILLED_STATUS means that the tokens were delivered. */
export const SLOW_FILL_REQUESTED_STATUS = 1n
export const FILLED_STATUS = 2n

/**
 * Reads the fill statuses of deposits from the destination's pool, by relay hash, in one call at one block. A status is
 * 0 if the deposit is unfilled, undefined if the pool returns no value. `withHash` adds a call for the block's hash.
 * Throws `upstream_*`.
 */
export function readFillStatuses(destination: ChainReader, relayHashes: readonly Hex[], { withHash = false } = {}) {
  const { pool: address } = getBridge(destination)
  const plans = relayHashes.map((relayHash) => {
    const calls = { status: buildCall(address, poolAbi, 'fillStatuses', [relayHash]) }
    return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => answers.status)
  })
  return destination.read(plans, { withHash })
}

/** Parses the receipt of this transaction; null if the node has none. Throws `upstream_bad_answer` for another transaction's receipt. */
export function parseReceipt(outcome: RpcOutcome | undefined, hash: Hash): Receipt | null {
  const receipt = parseResult(Receipt.nullable(), outcome)
  if (receipt && receipt.transactionHash !== hash) throw badResponse('a receipt of another transaction')
  return receipt
}

/** Returns the time of a block from the logs in it. Reads the time with one call if the logs lack it. Throws `upstream_*`. */
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
 * Distances of the blocks that `findFinalBlock` checks, below the block with the chain's finality tag. Each distance is
 * the smaller of two limits. One limit is the chain's finality time, multiplied by `ofTime` and converted to blocks.
 * The other limit is the number of blocks down to the last known final block, divided by `ofRest`.
 */
const PROBES = [
  { ofTime: 1.25, ofRest: 4n },
  { ofTime: 10, ofRest: 2n },
]
const NEAR_BLOCKS = 4n

/**
 * Returns the newest final block among four candidates, with at most one request. The candidates are the block with
 * the chain's finality tag, and three blocks below it. If none of them is final, returns the final block that was
 * known before, or block 0. Throws `upstream_*`.
 */
export async function findFinalBlock(
  { budget }: Pick<Poll, 'budget'>,
  source: ChainReader,
  { head, tagged = head, isFinal }: ChainFinality,
  known: BlockHeader = { number: 0n, timestamp: 0n },
): Promise<BlockHeader> {
  if (isFinal(tagged)) return tagged
  const { blockSeconds, finality } = source.chain
  const blocks = PROBES.map(({ ofTime, ofRest }) =>
    min(BigInt(Math.ceil((ofTime * finality.seconds) / blockSeconds)), (tagged.number - known.number) / ofRest),
  )
  const numbers = [NEAR_BLOCKS, ...blocks].map((count) => max(0n, tagged.number - count))
  // The caller sends one more call after this request, so one call of the budget is left for it.
  numbers.splice(Math.max(0, budget.left() - 1))
  const outcomes = numbers.length > 0 ? await budget.ask(source, numbers.map(blockRequest)) : []
  const old = outcomes.map((outcome) => parseResult(BlockHeader, outcome)).filter(isFinal)
  return old.reduce((one, other) => (one.number > other.number ? one : other), known)
}
