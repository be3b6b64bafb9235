import { stringify } from 'viem'
import * as z from 'zod'
import { min } from '../core/bigint.ts'
import { Address, TransactionHash } from '../core/codecs.ts'
import type { HttpEnvironment } from '../core/http.ts'
import { type CombineValues, createAgreement, type GetReader, type RunAgreed, serializeForComparison } from './agree.ts'
import { maxNodeLag } from './blocks.ts'
import { requireValue } from './call.ts'
import { HexText, Quantity } from './hex.ts'
import { type BlockHeader, compareLocation, HashedHeader, Log, Receipt } from './logs.ts'
import type { ChainReader, ReadOptions, ReadPlan } from './reader.ts'
import { findChain, groupByHost, type RpcUrls } from './readers.ts'
import type { EvmChain } from './registry.ts'
import { isLatestHeader } from './request.ts'
import type { RpcOutcome, RpcRequest } from './rpc.ts'

/**
 * Creates chain readers for data that is recorded as final. Two hosts confirm every read. The readers throw the errors
 * of `RunAgreed`.
 */
export function createAgreedReaders(rpcUrls: RpcUrls, environment: HttpEnvironment): GetReader {
  const agree = createAgreement(rpcUrls, environment)
  return (chainId) => {
    const chain = findChain(chainId)
    return createAgreedReader(agree, chain, groupByHost(rpcUrls[chainId] ?? chain.rpcUrls).length)
  }
}

/**
 * Creates a chain's reader that returns only results on which two hosts agree. `hosts` is the number of the chain's
 * hosts; with one host nothing is compared.
 */
export function createAgreedReader(agree: RunAgreed, chain: EvmChain, hosts: number): ChainReader {
  const of = <T>(read: (reader: ChainReader) => Promise<T>, combine?: CombineValues<T>) =>
    agree([chain.id], (getReader) => read(getReader(chain.id)), combine)
  return {
    chain,
    nodes: Math.min(2, hosts),
    read: (plans, options) => of((reader) => reader.read(plans, options), sameValues(chain, options)),
    readOne: (plan, options) => of((reader) => reader.readOne(plan, options), sameValues(chain, options)),
    readEach: (plans, options) => of((reader) => reader.readEach(plans, options), sameValues(chain, options)),
    request: (requests, options) => of((reader) => reader.request(requests, options), sameOutcomes(chain, requests)),
    logsUntil: (filter, from, to, enough) => of((reader) => reader.logsUntil(filter, from, to, enough), sameLogs),
  }
}

type ComparedRead = {
  readonly outcomes: RpcOutcome[]
  readonly block: BlockHeader
  readonly blocks: readonly BlockHeader[]
  readonly value?: unknown
  readonly values?: readonly unknown[]
}

/**
 * Accepts two reads if their values are equal and their blocks are at most a minute apart. With the option `at`, the
 * blocks must be equal.
 */
function sameValues<T extends ComparedRead>(
  chain: EvmChain,
  { at, extraCalls = [] }: ReadOptions = {},
): CombineValues<T> {
  const combine = sameOutcomes(chain, extraCalls)
  return (older, newer, heads) => {
    const [ofOlder, ofNewer] = [older, newer].map(({ value, values, blocks }) =>
      serializeForComparison([value, values, at === undefined ? undefined : blocks]),
    )
    const isEqual = ofOlder === ofNewer && areOfOneMinute(older.block, newer.block)
    const outcomes = isEqual ? combine(older.outcomes, newer.outcomes, heads) : undefined
    return outcomes && { ...older, outcomes }
  }
}

function areOfOneMinute(one: BlockHeader, other: BlockHeader): boolean {
  if (one.number === other.number) return one.timestamp === other.timestamp
  const seconds = one.number < other.number ? other.timestamp - one.timestamp : one.timestamp - other.timestamp
  return seconds >= 0n && seconds <= 60n
}

const sameLogs: CombineValues<{ readonly logs: Log[]; readonly through: bigint }> = (older, newer) => {
  const through = min(older.through, newer.through)
  const [logs = [], others = []] = [older, newer].map((read) =>
    read.logs.filter(({ blockNumber }) => blockNumber <= through).toSorted(compareLocation),
  )
  if (lowerText(logs) === lowerText(others)) return { logs, through }
  // Some nodes omit block times in events. The times are removed here, so that `readTimestamps` reads the block headers instead.
  const untimed = logs.map(({ blockTimestamp: _, ...log }) => log)
  return lowerText(logs, [TIME]) === lowerText(others, [TIME]) ? { logs: untimed, through } : undefined
}

function sameOutcomes(chain: EvmChain, requests: readonly RpcRequest[]): CombineValues<RpcOutcome[]> {
  return (older, newer, heads) => {
    const agreed = requests.flatMap((request, index) => {
      const [one, other] = [older[index], newer[index]]
      return (one && other && combineOutcomes(chain, request, [one, other], heads)) ?? []
    })
    return agreed.length === requests.length ? agreed : undefined
  }
}

const RECEIPT = 'eth_getTransactionReceipt'
const TRANSACTION = 'eth_getTransactionByHash'
const TIME = 'blockTimestamp'

/** Schemas of the compared fields of RPC results, by method. Results of other methods are hexadecimal digits. */
const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  // Numbers are compared as values, because some nodes omit leading zeros.
  eth_getStorageAt: Quantity,
  eth_getTransactionCount: Quantity,
  eth_getBalance: Quantity,
  eth_getLogs: z.array(Log),
  eth_getBlockReceipts: z.array(z.object({ logs: z.array(Log) })),
  eth_getBlockByNumber: HashedHeader.nullable(),
  [RECEIPT]: Receipt.nullable(),
  [TRANSACTION]: z
    .object({ hash: TransactionHash, from: Address, to: Address.nullish(), nonce: Quantity, input: HexText })
    .nullable(),
}

function combineOutcomes(
  chain: EvmChain,
  request: RpcRequest,
  [older, newer]: readonly [RpcOutcome, RpcOutcome],
  [olderHead, newerHead]: readonly (HashedHeader | undefined)[],
): RpcOutcome | undefined {
  if ('error' in older || 'error' in newer) {
    return 'error' in older && 'error' in newer && older.error.refusal === newer.error.refusal ? older : undefined
  }
  const { method } = request
  const schema = SCHEMAS[method] ?? HexText
  const [one, other] = [older, newer].map(({ result }) => schema.safeParse(result))
  if (!one?.success || !other?.success) return undefined
  if (isLatestHeader(request) || lowerText(one.data) === lowerText(other.data)) return older
  if (one.data === null || other.data === null) {
    // A pending transaction may not have reached every node, so null is no disagreement.
    if (method === TRANSACTION) return { result: null }
    // The cast is right: the schema of receipts has parsed this value.
    const [mined, head] = one.data === null ? [other.data, olderHead] : [one.data, newerHead]
    return method === RECEIPT && isAhead(chain, mined as Receipt, head) ? { result: null } : undefined
  }
  // Some nodes omit block times in events, so the comparison ignores the times and the result omits them.
  if (lowerText(one.data, [TIME]) !== lowerText(other.data, [TIME])) return undefined
  return { result: JSON.parse(JSON.stringify(older.result, (key, value) => (key === TIME ? undefined : value))) }
}

/** True if the block of the receipt is so new that a node with this latest block may not have it yet. */
function isAhead(chain: EvmChain, { blockNumber }: Receipt, head: HashedHeader | undefined): boolean {
  return head !== undefined && blockNumber > head.number - maxNodeLag(chain)
}

function lowerText(value: unknown, without: readonly string[] = []): string {
  const kept = (key: string, one: unknown) => {
    if (without.includes(key)) return undefined
    return one instanceof Map ? [...one] : one
  }
  return stringify(value, kept).toLowerCase()
}

/**
 * Returns a reader for plans whose parsed values contain functions. Functions cannot be compared, so the reader
 * compares the contracts' unparsed results.
 */
export function createRawComparingReader(reader: ChainReader): ChainReader {
  type Results = Parameters<ReadPlan<unknown>['parse']>[0]
  const toResults = <T>(plan: ReadPlan<T>): ReadPlan<Results> => ({
    ...plan,
    parse: (results) => {
      // The parser runs for each host, so that a host counts as failed if the parser refuses its results.
      plan.parse(results)
      return results
    },
  })
  return {
    ...reader,
    async read(plans, options) {
      const { values, ...others } = await reader.read(plans.map(toResults), options)
      return { ...others, values: plans.map((plan, index) => plan.parse(requireValue(values[index]))) }
    },
    async readEach(plans, options) {
      const { values, ...others } = await reader.readEach(plans.map(toResults), options)
      return { ...others, values: plans.map((plan, index) => (values[index] ? plan.parse(values[index]) : undefined)) }
    },
  }
}
