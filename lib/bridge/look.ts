import type { Hash } from 'viem'
import { type Finality, finalityRequests, parseFinality } from '../chain/finality.ts'
import { BlockHeader, blockRequest, type Log, parseResult, Receipt } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { RpcOutcome, RpcRequest } from '../chain/rpc.ts'
import { AppError } from '../errors.ts'
import type { Transfer, TransferKey, TransferStatus } from './transfer.ts'

/** What one look at a transfer works with. */
export type Look = {
  readonly readerOf: (chainId: number) => ChainReader
  readonly key: TransferKey
  readonly recorded: Transfer
  readonly allowance: Allowance
}

/** Where an event of a vault stands on the destination. */
type Arrival = { readonly chainId: number; readonly transactionHash: Hash; readonly logIndex: number }

/** What is seen of a transfer now, and what is to be kept of it. */
export type Seen = {
  readonly status: TransferStatus
  readonly keep: Transfer
  /** Where the vault's event of the deposit stands, once it is there for good. */
  readonly arrival?: Arrival
}

/** What a pool says of a deposit that is filled. */
export const FILLED = 2n

const MOST_TRIPS = 6
/** How many calls one look at a transfer may ask of all chains together. */
export const MOST_CALLS = 8

/** What is left of what one look may ask. */
export type Allowance = ReturnType<typeof createAllowance>

/** What is to be left for what comes after a request. */
export type Reserve = { readonly trips: number; readonly calls: number }
const NOTHING: Reserve = { trips: 0, calls: 0 }

/**
 * The allowance of one look at a transfer: at most 6 requests, one after the other or not, and 8 calls in them, or fewer
 * calls where no more are to be had.
 */
export function createAllowance(most: number = MOST_CALLS) {
  let trips = MOST_TRIPS
  let calls = Math.min(most, MOST_CALLS)
  let isShort = false

  const left = (reserved: Reserve = NOTHING): number =>
    trips > reserved.trips ? Math.max(0, calls - reserved.calls) : 0
  const reaches = (count: number, reserved?: Reserve): boolean => {
    if (count <= left(reserved)) return true
    isShort = true
    return false
  }
  const spend = (count: number): void => {
    if (!reaches(count)) throw new AppError('internal', { cause: new Error('a look asks no more calls than these') })
    trips -= 1
    calls -= count
  }

  return {
    /** How many calls the next request may have; 0 where there may be none. */
    left,
    /** Whether the next request may have so many calls. */
    reaches,
    /** Whether it did not reach for something for which a whole one may. */
    isShort: (): boolean => isShort && most < MOST_CALLS,

    /** What a reader reads in one request with one call. Throws `upstream_*`. */
    read<T>(work: () => Promise<T>): Promise<T> {
      spend(1)
      return work()
    },

    /** The outcomes of these calls, in one request. Throws `upstream_*`. */
    ask(reader: ChainReader, requests: readonly RpcRequest[]): Promise<RpcOutcome[]> {
      spend(requests.length)
      return reader.request(requests)
    },
  }
}

/**
 * Whether the chain's node of another host, where one is configured, says the same. One that cannot be asked now, or
 * that the allowance does not reach, confirms nothing.
 */
export async function isConfirmed(
  { allowance }: Pick<Look, 'allowance'>,
  { chain, witness }: ChainReader,
  requests: readonly RpcRequest[],
  agrees: (outcomes: readonly RpcOutcome[], finality: Finality) => boolean,
): Promise<boolean> {
  if (!witness) return true
  if (!allowance.reaches(requests.length + 2)) return false
  try {
    const outcomes = await allowance.ask(witness, [...requests, ...finalityRequests(chain)])
    return agrees(outcomes.slice(0, requests.length), parseFinality(chain, outcomes.slice(requests.length)))
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/** What is seen; an answer that is final for ever is kept. */
export function conclude(status: Omit<TransferStatus, 'final'>, keep: Transfer, isFinal: boolean): Seen {
  const answer = { ...status, final: isFinal && status.terminal }
  return { status: answer, keep: answer.final ? { ...keep, final: answer } : keep }
}

/** The bridge's contracts on a chain; throws `internal` where it does not go. */
export function bridgeOf({ chain }: ChainReader) {
  if (!chain.bridge) throw new AppError('internal', { cause: new Error(`There is no bridge on chain ${chain.id}.`) })
  return chain.bridge
}

/** The receipt of this transaction, null where the node knows none; throws when it is of another. */
export function parseReceipt(outcome: RpcOutcome | undefined, hash: Hash): Receipt | null {
  const receipt = parseResult(Receipt.nullable(), outcome)
  if (receipt && receipt.transactionHash !== hash) throw badAnswer('a receipt of another transaction')
  return receipt
}

/** The time of a block: as its logs tell it, or by one call. */
export async function readTime(
  { allowance }: Pick<Look, 'allowance'>,
  reader: ChainReader,
  logs: readonly Log[],
  blockNumber: bigint,
): Promise<Date> {
  const told = logs.find((log) => log.blockNumber === blockNumber)?.blockTimestamp
  if (told !== undefined) return dateOf(told)
  const [outcome] = await allowance.ask(reader, [blockRequest(blockNumber)])
  return dateOf(parseResult(BlockHeader, outcome).timestamp)
}

/** The error for an answer of a node that cannot be right. */
export function badAnswer(why: string): AppError {
  return new AppError('upstream_bad_answer', { cause: new Error(why) })
}

/** The moment of a time in seconds since 1970. */
function dateOf(seconds: bigint): Date {
  return new Date(Number(seconds) * 1000)
}

/** A moment in seconds since 1970. */
export function secondsOf(date: Date): bigint {
  return BigInt(Math.floor(date.getTime() / 1000))
}
