import { type Address, type Hash, type Hex, hexToBigInt, numberToHex, parseAbi, size } from 'viem'
import { inBatches } from '../core/batches.ts'
import { badResponse } from '../core/errors.ts'
import { LAST_SECOND } from '../core/time.ts'
import { buildCall, type ContractCall, decodeReturnValues, type ReturnValues } from './call.ts'
import type { Evidence } from './evidence.ts'
import { HexText } from './hex.ts'
import {
  type BlockHeader,
  blockRequest,
  HashedHeader,
  type LogFilter,
  lowerBlock,
  parseResult,
  readLogsUntil,
  toBlockFields,
} from './logs.ts'
import {
  type AggregateCall,
  ARB_SYS,
  decodeAggregate,
  encodeAggregate,
  encodedLength,
  MULTICALL3,
  multicall3Abi,
} from './multicall.ts'
import type { EvmChain } from './registry.ts'
import type { Rpc, RpcOutcome, RpcRequest } from './rpc.ts'
import { buildCodeOverrides, encodeStorageCall, OVERRIDE_DIGITS, parseStorage } from './storage.ts'

/** Named reads for one contract: words of its own storage (32 bytes each), and calls to it or to other contracts. */
export type NamedReads = {
  readonly address: Address
  readonly slots: Readonly<Record<string, Hex>>
  readonly calls: Readonly<Record<string, ContractCall<unknown>>>
}

/** Results of one contract's named reads: storage words and return values. */
export type NamedResults<R extends NamedReads> = {
  readonly words: { readonly [Name in keyof R['slots']]: bigint }
  readonly answers: ReturnValues<R['calls']>
}

/** A contract's storage slots to read and calls to make. `parse` gets the storage words and return values in the same order. */
export type ReadPlan<T> = {
  readonly address: Address
  readonly slots: readonly Hex[]
  readonly calls: readonly ContractCall<unknown>[]
  readonly parse: (read: { readonly words: readonly bigint[]; readonly answers: readonly unknown[] }) => T
}

/** Builds the plan for these named reads. `parse` computes the plan's value from the named results. */
export function buildReadPlan<const R extends NamedReads, T>(
  { address, slots, calls }: R,
  parse: (reading: NamedResults<R>) => T,
): ReadPlan<T> {
  const named = (names: object, values: readonly unknown[]) =>
    Object.fromEntries(Object.keys(names).map((name, index) => [name, values[index]]))
  return {
    address,
    slots: Object.values(slots),
    calls: Object.values(calls),
    // The cast is right: the results have the names of the slots and calls.
    parse: ({ words, answers }) =>
      parse({ words: named(slots, words), answers: named(calls, answers) } as NamedResults<R>),
  }
}

/** Returns the same plan, with its value converted by `map`. */
export function mapReadPlan<T, U>(plan: ReadPlan<T>, map: (value: T) => U): ReadPlan<U> {
  return { ...plan, parse: (read) => map(plan.parse(read)) }
}

/** Joins two plans of one contract into one plan. Its value is the pair of both values. */
export function joinReadPlans<L, R>(left: ReadPlan<L>, right: ReadPlan<R>): ReadPlan<readonly [L, R]> {
  const [slots, calls] = [left.slots.length, left.calls.length]
  return {
    address: left.address,
    slots: [...left.slots, ...right.slots],
    calls: [...left.calls, ...right.calls],
    parse: ({ words, answers }) => [
      left.parse({ words: words.slice(0, slots), answers: answers.slice(0, calls) }),
      right.parse({ words: words.slice(slots), answers: answers.slice(calls) }),
    ],
  }
}

type ReadResult<T> = {
  /** Earliest of the blocks at which values were read. */
  readonly block: BlockHeader
  /** Block at which each value was read. All blocks are equal if `at` was given or one call read everything. */
  readonly blocks: readonly BlockHeader[]
  readonly values: readonly T[]
  readonly outcomes: RpcOutcome[]
  /**
   * Returns `block` and its hash, for responses. Sends one more request if the option `withHash` was not set, or if new
   * blocks came during the read. Throws `upstream_*`.
   */
  readonly evidence: () => Promise<Evidence>
}

/**
 * Options of a read. `at`: number of the block to read at, instead of the latest. `extraCalls`: RPC calls sent in the
 * same HTTP request. `withHash`: requests the block's hash too.
 */
export type ReadOptions = {
  readonly at?: bigint | undefined
  readonly extraCalls?: readonly RpcRequest[]
  readonly withHash?: boolean
}

/** Reader of contracts on one chain. Each read usually takes one HTTP request. */
export type ChainReader = ReturnType<typeof createChainReader>

const ARBITRUM = 42161
const arbSysAbi = parseAbi(['function arbBlockNumber() view returns (uint256)'])

const BLOCK_CALLS = [
  buildCall(MULTICALL3, multicall3Abi, 'getCurrentBlockTimestamp', []),
  buildCall(MULTICALL3, multicall3Abi, 'getBlockNumber', []),
]
const ARBITRUM_BLOCK_CALLS = [...BLOCK_CALLS, buildCall(ARB_SYS, arbSysAbi, 'arbBlockNumber', [])]

const LAST_NUMBER = BigInt(Number.MAX_SAFE_INTEGER)

const MAX_CONTRACTS = 100
/**
 * Maximum hexadecimal digits in the calldata of one eth_call, which limits the call's gas too. Reading 100 vault
 * positions takes 0.9 million digits and 17 million gas. The strictest nodes accept two million digits and 50 million
 * gas.
 */
const MAX_DIGITS = 1_200_000
/**
 * Number of smaller groups into which the contracts of a failed eth_call are divided. Each of the four groups needs two
 * calls, and the block header needs one more. Every node accepts nine calls in one batch.
 */
const PARTS = 4

const HEADER_TRIES = 3

/** Creates a reader of one chain. `nodes`: number of hosts that confirm its results. */
export function createChainReader(chain: EvmChain, rpc: Rpc, { nodes = 1 }: { readonly nodes?: number } = {}) {
  const blockCalls = chain.id === ARBITRUM ? ARBITRUM_BLOCK_CALLS : BLOCK_CALLS
  /**
   * Plans of the last read at the latest block, with their encoded requests. They are kept because callers read the
   * same lists of plans repeatedly.
   */
  let last: { readonly plans: readonly unknown[]; readonly requests: readonly RpcRequest[][] } | undefined

  /**
   * Reads contracts, each at one block: the latest, or `at`. Sends `extraCalls` in the same HTTP request. Takes one
   * eth_call for every 100 contracts, and one more if any storage is read: there a small program replaces the
   * contracts' code. A second HTTP request is needed only if these two calls ran at different blocks, or if the node
   * refuses state overrides. Throws AppError `upstream_*`.
   */
  async function read<T>(plans: readonly ReadPlan<T>[], options: ReadOptions = {}): Promise<ReadResult<T>> {
    const { groups, ...others } = await readCalls(plans, options)
    const parts = groups.map(({ result }) => {
      if (!result) throw badResponse('the node did not run a call to its end')
      return result
    })
    return joinParts(parts, others)
  }

  /** Reads one contract, like `read`, and returns its value. */
  async function readOne<T>(plan: ReadPlan<T>, options?: ReadOptions) {
    const { values, ...others } = await read([plan], options)
    // The cast is right: one plan has one value.
    return { ...others, value: values[0] as T }
  }

  /**
   * Like `read`, but broken contracts, which may use all the gas of a shared call, do not fail the others. The
   * contracts of a failed call are read again in smaller calls. In the end only the broken contracts have no value.
   * Throws AppError `upstream_*` if no contract can be read.
   */
  async function readEach<T>(
    plans: readonly ReadPlan<T>[],
    options: ReadOptions = {},
  ): Promise<ReadResult<T | undefined>> {
    const { groups, ...others } = await readCalls(plans, options)
    const parts = await Promise.all(
      groups.map(({ result, plans }) => (result ? [result] : readInParts(plans, options.at))),
    )
    const snapshot = joinParts<T | undefined>(parts.flat(), others)
    if (plans.length > 0 && snapshot.values.every((value) => value === undefined)) {
      throw badResponse('none of the contracts can be read')
    }
    return snapshot
  }

  async function readCalls<T>(plans: readonly ReadPlan<T>[], { extraCalls = [], at, withHash = false }: ReadOptions) {
    const groups = groupPlans(plans)
    const isLast = last?.plans.length === plans.length && plans.every((plan, index) => plan === last?.plans[index])
    const kept = at === undefined && isLast ? last : undefined
    const requests = kept?.requests ?? groups.map((group) => requestsFor(blockCalls, group, at))
    if (at === undefined) last = { plans, requests }
    const headers = withHash ? [blockRequest(at ?? 'latest')] : []
    const { parts, outcomes } = await send(groups, at, [...extraCalls, ...headers], requests)
    const read = groups.map((group, index) => ({ plans: group, result: parts[index] }))
    return { groups: read, outcomes: outcomes.slice(0, extraCalls.length), header: outcomes[extraCalls.length] }
  }

  function joinParts<T>(
    parts: readonly CallResult<T>[],
    { outcomes, header }: { readonly outcomes: RpcOutcome[]; readonly header: RpcOutcome | undefined },
  ): ReadResult<T> {
    const block = parts.map((part) => part.block).reduce(lowerBlock)
    return {
      block,
      blocks: parts.flatMap((part) => part.values.map(() => part.block)),
      values: parts.flatMap(({ values }) => values),
      outcomes,
      evidence: () => readEvidence(block, header),
    }
  }

  async function readEvidence(block: BlockHeader, header: RpcOutcome | undefined): Promise<Evidence> {
    const parsedHeader = HashedHeader.safeParse(header && 'result' in header ? header.result : undefined).data
    const blockHash = (parsedHeader && findHash(parsedHeader, block)) ?? (await readHash(block))
    return { chainId: chain.id, ...toBlockFields(block), blockHash, nodes }
  }

  /** Reads a block's hash. Tries again, because a node behind the same URL may not know the block yet. */
  async function readHash({ number }: Pick<BlockHeader, 'number'>, tries = HEADER_TRIES): Promise<Hash> {
    const [outcome] = await rpc([blockRequest(number)])
    const hasHeader = outcome && 'result' in outcome && outcome.result !== null
    if (tries > 1 && !hasHeader) return readHash({ number }, tries - 1)
    return parseResult(HashedHeader, outcome).hash
  }

  async function readInParts<T>(
    plans: readonly ReadPlan<T>[],
    at: bigint | undefined,
  ): Promise<CallResult<T | undefined>[]> {
    const smaller = plans.length > 1 ? inBatches(plans, Math.ceil(plans.length / PARTS)) : []
    const [empty, ...parts] = (await send([[], ...smaller], at)).parts
    if (!empty) throw badResponse('the node runs no call')
    const broken = [{ block: empty.block, values: [undefined] }]
    if (smaller.length === 0) return broken
    const readable = await Promise.all(
      smaller.map((some, index) => {
        const part = parts[index]
        if (part) return [part]
        return some.length > 1 ? readInParts(some, at) : broken
      }),
    )
    return readable.flat()
  }

  /**
   * Reads each group of plans with one or two eth_calls, all in one HTTP request. A group's result is undefined if the
   * node did not finish its call.
   */
  async function send<T>(
    groups: readonly (readonly ReadPlan<T>[])[],
    at: bigint | undefined,
    extraCalls: readonly RpcRequest[] = [],
    requests: readonly RpcRequest[][] = groups.map((group) => requestsFor(blockCalls, group, at)),
  ) {
    // Each group takes its outcomes from the front, so those of `extraCalls` are left.
    const outcomes = await rpc([...requests.flat(), ...extraCalls])
    const parts = await Promise.all(
      groups.map((group, index) => parseGroup(group, at, outcomes.splice(0, requests[index]?.length))),
    )
    return { parts, outcomes }
  }

  /**
   * Parses the results of a group's two calls, one for return values and one for storage. Reads the group again at one
   * block if the two calls ran at different blocks.
   */
  async function parseGroup<T>(
    plans: readonly ReadPlan<T>[],
    at: bigint | undefined,
    [calls, storage]: readonly RpcOutcome[],
  ): Promise<CallResult<T> | undefined> {
    if (calls && 'error' in calls) return undefined
    const { block, returned } = decodeGroups(
      blockCalls,
      plans.map(({ calls }) => calls),
      calls,
    )
    const stored = plans.filter(hasStorage)
    const read =
      storage && 'result' in storage ? decodeGroups(blockCalls, stored.map(storageCallOf), storage) : undefined
    if (read && read.block.number !== block.number) {
      if (at !== undefined) throw badResponse('two calls at one block return different blocks')
      return (await send([plans], lowerBlock(read.block, block).number)).parts[0]
    }
    const words = plans.map((plan) => parseStorage(plan.slots, read?.returned[stored.indexOf(plan)]?.[0]))
    const known = words.every((ofPlan) => ofPlan !== undefined) ? words : await readWords(plans, block.number)
    const values = plans.map(({ calls, parse }, index) =>
      parse({ words: known[index] ?? [], answers: decodeReturnValues(calls, returned[index]) }),
    )
    return { block, values }
  }

  /** Reads storage words with one call each, for nodes that refuse state overrides. */
  async function readWords(plans: readonly ReadPlan<unknown>[], at: bigint): Promise<bigint[][]> {
    const requests = plans.flatMap(({ address, slots }) =>
      slots.map((slot) => ({ method: 'eth_getStorageAt', params: [address, slot, numberToHex(at)] })),
    )
    const words = (requests.length > 0 ? await rpc(requests) : []).map(resultWord)
    return plans.map(({ slots }) => words.splice(0, slots.length))
  }

  return {
    chain,
    /** Number of hosts that confirm everything this reader returns. */
    nodes,
    read,
    readEach,
    readOne,
    /** Sends RPC calls in one HTTP request. Throws AppError `upstream_*`. */
    request: rpc,
    /** Reads the events of the filter from block `from` on, until `enough` accepts their number; see `readLogsUntil`. */
    logsUntil: (filter: LogFilter, from: bigint, to: bigint, enough: (events: number) => boolean) =>
      readLogsUntil(rpc, filter, from, to, enough),
  }
}

type CallResult<T> = { readonly block: BlockHeader; readonly values: readonly T[] }

function requestsFor(
  blockCalls: readonly AggregateCall[],
  plans: readonly ReadPlan<unknown>[],
  at: bigint | undefined,
): RpcRequest[] {
  const aggregate = (calls: readonly AggregateCall[], ...overrides: readonly object[]) => ({
    method: 'eth_call',
    params: [
      { to: MULTICALL3, data: encodeAggregate([...blockCalls, ...calls]) },
      at === undefined ? 'latest' : numberToHex(at),
      ...overrides,
    ],
  })
  const stored = plans.filter(hasStorage)
  const views = aggregate(plans.flatMap(({ calls }) => calls))
  if (stored.length === 0) return [views]
  return [views, aggregate(stored.flatMap(storageCallOf), buildCodeOverrides(stored.map(({ address }) => address)))]
}

function hasStorage({ slots }: ReadPlan<unknown>): boolean {
  return slots.length > 0
}

function storageCallOf({ address, slots }: ReadPlan<unknown>): [AggregateCall] {
  return [encodeStorageCall(address, slots)]
}

/**
 * Groups plans so that one eth_call reads each group. Without plans it returns one empty group, whose call reads only
 * the block.
 */
function groupPlans<T>(plans: readonly ReadPlan<T>[]): ReadPlan<T>[][] {
  let group: ReadPlan<T>[] = []
  const groups = [group]
  let digits = 0
  for (const plan of plans) {
    const more = digitsOf(plan)
    if (group.length === MAX_CONTRACTS || (group.length > 0 && digits + more > MAX_DIGITS)) {
      group = []
      groups.push(group)
      digits = 0
    }
    group.push(plan)
    digits += more
  }
  return groups
}

function digitsOf(plan: ReadPlan<unknown>): number {
  const storage = hasStorage(plan) ? encodedLength(storageCallOf(plan)[0]) + OVERRIDE_DIGITS : 0
  return plan.calls.reduce((sum, call) => sum + encodedLength(call), storage)
}

function findHash({ number, hash, parentHash }: HashedHeader, block: BlockHeader): Hash | undefined {
  if (number === block.number) return hash
  return number === block.number + 1n ? parentHash : undefined
}

function decodeGroups(
  blockCalls: readonly ContractCall<bigint>[],
  groups: readonly (readonly AggregateCall[])[],
  outcome: RpcOutcome | undefined,
) {
  const all = decodeAggregate(parseResult(HexText, outcome))
  const [timestamp, evmNumber, ownNumber] = decodeReturnValues(blockCalls, all.splice(0, blockCalls.length))
  const number = ownNumber ?? evmNumber
  if (number === undefined || timestamp === undefined) throw badResponse('the block has no number or no time')
  if (number > LAST_NUMBER || timestamp > LAST_SECOND) throw badResponse('the block has an impossible number or time')
  return { block: { number, timestamp }, returned: groups.map(({ length }) => all.splice(0, length)) }
}

/** Parses a storage word. Some nodes omit leading zeros, so a shorter word is accepted too. */
function resultWord(outcome: RpcOutcome | undefined): bigint {
  const data = parseResult(HexText, outcome)
  if (data === '0x' || size(data) > 32) throw badResponse('a storage word has the wrong size')
  return hexToBigInt(data)
}
