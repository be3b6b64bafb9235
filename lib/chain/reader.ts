import { type Address, type Hash, type Hex, hexToBigInt, isHex, numberToHex, parseAbi, size } from 'viem'
import { inBatches } from '../batches.ts'
import { badAnswer } from '../errors.ts'
import { LAST_SECOND } from '../time.ts'
import { type Answers, type Call, call, decodeAnswers } from './call.ts'
import type { Evidence } from './evidence.ts'
import {
  type BlockHeader,
  blockRequest,
  HashedHeader,
  type LogFilter,
  lower,
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
import { encodeStorageCall, OVERRIDE_DIGITS, parseStorage, storageOverrides } from './storage.ts'

/** What to read of one contract: named storage slots of its own (32 bytes each), and named calls of it or of others. */
export type Reads = {
  readonly address: Address
  readonly slots: Readonly<Record<string, Hex>>
  readonly calls: Readonly<Record<string, Call<unknown>>>
}

/** What was read of one contract. */
export type Reading<R extends Reads> = {
  readonly words: { readonly [Name in keyof R['slots']]: bigint }
  readonly answers: Answers<R['calls']>
}

/** What to read of one contract, and what its storage words and its calls' answers, in this order, mean. */
export type ReadPlan<T> = {
  readonly address: Address
  readonly slots: readonly Hex[]
  readonly calls: readonly Call<unknown>[]
  readonly parse: (read: { readonly words: readonly bigint[]; readonly answers: readonly unknown[] }) => T
}

/** The plan that reads this; `parse` gives its value. */
export function readPlan<const R extends Reads, T>(
  { address, slots, calls }: R,
  parse: (reading: Reading<R>) => T,
): ReadPlan<T> {
  const named = (names: object, values: readonly unknown[]) =>
    Object.fromEntries(Object.keys(names).map((name, index) => [name, values[index]]))
  return {
    address,
    slots: Object.values(slots),
    calls: Object.values(calls),
    // Entries that are put together lose their names: these are those of the slots and calls.
    parse: ({ words, answers }) => parse({ words: named(slots, words), answers: named(calls, answers) } as Reading<R>),
  }
}

/** The same plan with another value, made of its own. */
export function mapReadPlan<T, U>(plan: ReadPlan<T>, map: (value: T) => U): ReadPlan<U> {
  return { ...plan, parse: (read) => map(plan.parse(read)) }
}

/** Two plans of one contract as one. */
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

/** The values of plans, each of one block, with the outcomes of the extra calls. */
type Snapshot<T> = {
  /** The earliest block that a value is of. */
  readonly block: BlockHeader
  /** The block of each value: one for all where `at` was given or one call read all. */
  readonly blocks: readonly BlockHeader[]
  readonly values: readonly T[]
  readonly outcomes: RpcOutcome[]
  /** That block as answers have it: one more request where its hash was not asked for, or blocks came too fast. Throws `upstream_*`. */
  readonly evidence: () => Promise<Evidence>
}

/**
 * How to read: at which block instead of the latest, which calls to send in the same HTTP request, and whether to ask for
 * the block's hash in it.
 */
export type ReadOptions = {
  readonly at?: bigint | undefined
  readonly extraCalls?: readonly RpcRequest[]
  readonly withHash?: boolean
}

/** Reads contracts of one chain, each read in one HTTP request. */
export type ChainReader = ReturnType<typeof chainReader>

const ARBITRUM = 42161
const arbSysAbi = parseAbi(['function arbBlockNumber() view returns (uint256)'])

const BLOCK_CALLS = [
  call(MULTICALL3, multicall3Abi, 'getCurrentBlockTimestamp', []),
  call(MULTICALL3, multicall3Abi, 'getBlockNumber', []),
]
const ARBITRUM_BLOCK_CALLS = [...BLOCK_CALLS, call(ARB_SYS, arbSysAbi, 'arbBlockNumber', [])]

/** The last number that a JavaScript number holds. */
const LAST_NUMBER = BigInt(Number.MAX_SAFE_INTEGER)

/** How many contracts one eth_call reads at most. */
const MOST_CONTRACTS = 100
/**
 * How many hexadecimal digits it has at most, which bounds its gas too: 100 positions are 0.9 million digits and
 * 17 million gas, where the tightest nodes end at two million and 50 million.
 */
const MOST_DIGITS = 1_200_000
/** Into how many parts a failed group is cut: two calls each, and one for the block, are what any node takes in a batch. */
const PARTS = 4

/** How often a block's header is asked for at most. */
const HEADER_TRIES = 3

/** A reader of one chain. `nodes`: how many hosts agree on what it returns. */
export function chainReader(chain: EvmChain, rpc: Rpc, { nodes = 1 }: { readonly nodes?: number } = {}) {
  const blockCalls = chain.id === ARBITRUM ? ARBITRUM_BLOCK_CALLS : BLOCK_CALLS
  /** The last plans that were read at the latest block, and the requests of each group: lists are read again and again. */
  let last: { readonly plans: readonly unknown[]; readonly requests: readonly RpcRequest[][] } | undefined

  /**
   * Reads contracts, each at one block, the latest by default, and sends `extraCalls` in the same HTTP request. One eth_call for
   * every 100 contracts, and one more for their storage, if any is read. A second request only if these two are of different
   * blocks, or the node refuses state overrides. Throws AppError `upstream_*`.
   */
  async function read<T>(plans: readonly ReadPlan<T>[], options: ReadOptions = {}): Promise<Snapshot<T>> {
    const { attempts, ...others } = await readCalls(plans, options)
    const parts = attempts.map(({ part }) => {
      if (!part) throw badAnswer('the node would not run a call, or not to its end')
      return part
    })
    return joinParts(parts, others)
  }

  /** Reads one contract; like `read`. */
  async function readOne<T>(plan: ReadPlan<T>, options?: ReadOptions) {
    const { values, ...others } = await read([plan], options)
    // One plan has one value.
    return { ...others, value: values[0] as T }
  }

  /**
   * Like `read`, of contracts of which some may be broken: where one makes its call fail, by burning all the gas, the
   * contracts of that call alone are read again in smaller parts, until the broken one is by itself and has no value.
   * Throws AppError `upstream_*` when the node answers nothing of use, or none of the contracts can be read.
   */
  async function readEach<T>(
    plans: readonly ReadPlan<T>[],
    options: ReadOptions = {},
  ): Promise<Snapshot<T | undefined>> {
    const { attempts, ...others } = await readCalls(plans, options)
    const parts = await Promise.all(attempts.map(({ part, plans }) => (part ? [part] : readInParts(plans, options.at))))
    const snapshot = joinParts<T | undefined>(parts.flat(), others)
    if (plans.length > 0 && snapshot.values.every((value) => value === undefined)) {
      throw badAnswer('none of the contracts can be read')
    }
    return snapshot
  }

  /** Reads plans with as few calls as take them, in one HTTP request. */
  async function readCalls<T>(plans: readonly ReadPlan<T>[], { extraCalls = [], at, withHash = false }: ReadOptions) {
    const groups = cutIntoCalls(plans)
    const isLast = last?.plans.length === plans.length && plans.every((plan, index) => plan === last?.plans[index])
    const kept = at === undefined && isLast ? last : undefined
    const requests = kept?.requests ?? groups.map((group) => requestsFor(blockCalls, group, at))
    if (at === undefined) last = { plans, requests }
    const headers = withHash ? [blockRequest(at ?? 'latest')] : []
    const { parts, outcomes } = await send(groups, at, [...extraCalls, ...headers], requests)
    const attempts = groups.map((group, index) => ({ plans: group, part: parts[index] }))
    return { attempts, outcomes: outcomes.slice(0, extraCalls.length), header: outcomes[extraCalls.length] }
  }

  function joinParts<T>(
    parts: readonly Part<T>[],
    { outcomes, header }: { readonly outcomes: RpcOutcome[]; readonly header: RpcOutcome | undefined },
  ): Snapshot<T> {
    const block = parts.map((part) => part.block).reduce(lower)
    return {
      block,
      blocks: parts.flatMap((part) => part.values.map(() => part.block)),
      values: parts.flatMap(({ values }) => values),
      outcomes,
      evidence: () => readEvidence(block, header),
    }
  }

  /** The block as answers have it, with the hash that a header at or after it tells. */
  async function readEvidence(block: BlockHeader, header: RpcOutcome | undefined): Promise<Evidence> {
    const told = HashedHeader.safeParse(header && 'result' in header ? header.result : undefined).data
    const blockHash = (told && hashTold(told, block)) ?? (await readHash(block))
    return { chainId: chain.id, ...toBlockFields(block), blockHash, nodes }
  }

  /** The hash of a block that was read; asked for again where a node behind the same URL does not know the block yet. */
  async function readHash({ number }: Pick<BlockHeader, 'number'>, tries = HEADER_TRIES): Promise<Hash> {
    const [outcome] = await rpc([blockRequest(number)])
    const isTold = outcome && 'result' in outcome && outcome.result !== null
    if (tries > 1 && !isTold) return readHash({ number }, tries - 1)
    return parseResult(HashedHeader, outcome).hash
  }

  /** Reads plans of which one made their call fail in ever smaller parts. */
  async function readInParts<T>(plans: readonly ReadPlan<T>[], at: bigint | undefined): Promise<Part<T | undefined>[]> {
    const smaller = plans.length > 1 ? inBatches(plans, Math.ceil(plans.length / PARTS)) : []
    const [empty, ...parts] = (await send([[], ...smaller], at)).parts
    if (!empty) throw badAnswer('the node runs no call at all')
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
   * Reads each group with one call, or two, all in one HTTP request with the extra calls: what each reads, undefined where the
   * node would not run its call, or not to its end.
   */
  async function send<T>(
    groups: readonly (readonly ReadPlan<T>[])[],
    at: bigint | undefined,
    extraCalls: readonly RpcRequest[] = [],
    requests: readonly RpcRequest[][] = groups.map((group) => requestsFor(blockCalls, group, at)),
  ) {
    const outcomes = await rpc([...requests.flat(), ...extraCalls])
    const parts = await Promise.all(
      groups.map((group, index) => finish(group, at, outcomes.splice(0, requests[index]?.length))),
    )
    return { parts, outcomes }
  }

  /** What a group's calls read, with what is still missing: all at one block if the two calls were of different blocks. */
  async function finish<T>(
    plans: readonly ReadPlan<T>[],
    at: bigint | undefined,
    [calls, storage]: readonly RpcOutcome[],
  ): Promise<Part<T> | undefined> {
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
      if (at !== undefined) throw badAnswer('two calls at one block are of different blocks')
      return (await send([plans], lower(read.block, block).number)).parts[0]
    }
    const words = plans.map((plan) => parseStorage(plan.slots, read?.returned[stored.indexOf(plan)]?.[0]))
    const known = words.every((ofPlan) => ofPlan !== undefined) ? words : await readWords(plans, block.number)
    const values = plans.map(({ calls, parse }, index) =>
      parse({ words: known[index] ?? [], answers: decodeAnswers(calls, returned[index]) }),
    )
    return { block, values }
  }

  /** The storage words one by one, for nodes that refuse state overrides. */
  async function readWords(plans: readonly ReadPlan<unknown>[], at: bigint): Promise<bigint[][]> {
    const requests = plans.flatMap(({ address, slots }) =>
      slots.map((slot) => ({ method: 'eth_getStorageAt', params: [address, slot, numberToHex(at)] })),
    )
    const words = (requests.length > 0 ? await rpc(requests) : []).map(resultWord)
    return plans.map(({ slots }) => words.splice(0, slots.length))
  }

  return {
    chain,
    /** How many hosts tell everything that it reads. */
    nodes,
    read,
    readEach,
    readOne,
    /** The outcomes of other calls, in one HTTP request. Throws AppError `upstream_*`. */
    request: rpc,
    /** The events of the filter from a block on, until there are enough of them; see `readLogsUntil`. */
    logsUntil: (filter: LogFilter, from: bigint, to: bigint, enough: (events: number) => boolean) =>
      readLogsUntil(rpc, filter, from, to, enough),
  }
}

/** What one call reads: the values of its plans, all of one block. */
type Part<T> = { readonly block: BlockHeader; readonly values: readonly T[] }

/** The requests that read a group at a block: of its calls, and of its storage if there is any. */
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
  return [views, aggregate(stored.flatMap(storageCallOf), storageOverrides(stored.map(({ address }) => address)))]
}

function hasStorage({ slots }: ReadPlan<unknown>): boolean {
  return slots.length > 0
}

function storageCallOf({ address, slots }: ReadPlan<unknown>): [AggregateCall] {
  return [encodeStorageCall(address, slots)]
}

/** The plans in groups that one call takes each; one empty group where there are none, which tells the block. */
function cutIntoCalls<T>(plans: readonly ReadPlan<T>[]): ReadPlan<T>[][] {
  let group: ReadPlan<T>[] = []
  const groups = [group]
  let digits = 0
  for (const plan of plans) {
    const more = digitsOf(plan)
    if (group.length === MOST_CONTRACTS || (group.length > 0 && digits + more > MOST_DIGITS)) {
      group = []
      groups.push(group)
      digits = 0
    }
    group.push(plan)
    digits += more
  }
  return groups
}

/** How many digits a plan adds to the calls of its group. */
function digitsOf(plan: ReadPlan<unknown>): number {
  const storage = hasStorage(plan) ? encodedLength(storageCallOf(plan)[0]) + OVERRIDE_DIGITS : 0
  return plan.calls.reduce((sum, call) => sum + encodedLength(call), storage)
}

/** The hash of a block by its own header or that of the next block; undefined where the header is of another one. */
function hashTold({ number, hash, parentHash }: HashedHeader, block: BlockHeader): Hash | undefined {
  if (number === block.number) return hash
  return number === block.number + 1n ? parentHash : undefined
}

/** The block of an aggregate of calls, and what each group of them returned. Throws `upstream_bad_answer`. */
function decodeGroups(
  blockCalls: readonly Call<bigint>[],
  groups: readonly (readonly AggregateCall[])[],
  outcome: RpcOutcome | undefined,
) {
  const all = decodeOutcome(outcome)
  const [timestamp, evmNumber, ownNumber] = decodeAnswers(blockCalls, all.splice(0, blockCalls.length))
  const number = ownNumber ?? evmNumber
  if (number === undefined || timestamp === undefined) throw badAnswer('the block does not tell its number and time')
  if (number > LAST_NUMBER || timestamp > LAST_SECOND) throw badAnswer('no chain has such a block')
  return { block: { number, timestamp }, returned: groups.map(({ length }) => all.splice(0, length)) }
}

function decodeOutcome(outcome: RpcOutcome | undefined): (Hex | undefined)[] {
  return decodeAggregate(resultHex(outcome))
}

function resultHex(outcome: RpcOutcome | undefined): Hex {
  if (outcome && 'result' in outcome && isHex(outcome.result)) return outcome.result
  throw badAnswer('a call has no result')
}

/** A storage word; some nodes leave its zeros out. */
function resultWord(outcome: RpcOutcome | undefined): bigint {
  const data = resultHex(outcome)
  if (data === '0x' || size(data) > 32) throw badAnswer('a storage word has the wrong size')
  return hexToBigInt(data)
}
