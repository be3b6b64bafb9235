import { type Address, type Hex, hexToBigInt, isHex, numberToHex, parseAbi, size } from 'viem'
import { AppError } from '../errors.ts'
import {
  codeReaderOverrides,
  encodeCodeCall,
  encodeStorageCall,
  type OriginalCode,
  originalCodes,
  storageOverrides,
} from './code-override.ts'
import { type BlockHeader, type LogFilter, readLogs, readLogsUntil } from './logs.ts'
import {
  type AggregateCall,
  decodeAggregate,
  encodeAggregate,
  encodedLength,
  MULTICALL3,
  multicall3Abi,
} from './multicall.ts'
import type { EvmChain } from './registry.ts'
import type { Rpc, RpcOutcome, RpcRequest } from './rpc.ts'
import { simulationRequest } from './simulation.ts'
import type { Transaction } from './transaction.ts'
import { type Answers, type View, view } from './view.ts'

/** What to read of one contract: named storage slots of its own (32 bytes each), and named views of it or of others. */
export type Reads = {
  readonly address: Address
  readonly slots: Readonly<Record<string, Hex>>
  readonly views: Readonly<Record<string, View<unknown>>>
}

/** What was read of one contract. */
export type Reading<R extends Reads> = {
  readonly words: { readonly [Name in keyof R['slots']]: bigint }
  readonly answers: Answers<R['views']>
}

/** What to read of one contract and what it means. */
export type Query<T> = Reads & { readonly parse: (reading: Reading<Reads>) => T }

/** The query that reads this and understands it so. */
export function query<const R extends Reads, T>(reads: R, parse: (reading: Reading<R>) => T): Query<T> {
  // A reading has exactly the names that were asked for, which the type of a list of queries cannot say.
  return { ...reads, parse: (reading) => parse(reading as Reading<R>) }
}

/** The same query, its value understood further. */
export function mapQuery<T, U>({ parse, ...reads }: Query<T>, map: (value: T) => U): Query<U> {
  return { ...reads, parse: (reading) => map(parse(reading)) }
}

/** Two queries of one contract as one. */
export function joinQueries<L, R>(left: Query<L>, right: Query<R>): Query<readonly [L, R]> {
  return {
    address: left.address,
    slots: { ...prefixed('left', left.slots), ...prefixed('right', right.slots) },
    views: { ...prefixed('left', left.views), ...prefixed('right', right.views) },
    parse: ({ words, answers }) => [
      left.parse({ words: unprefixed('left', words), answers: unprefixed('left', answers) }),
      right.parse({ words: unprefixed('right', words), answers: unprefixed('right', answers) }),
    ],
  }
}

function prefixed<T>(prefix: string, values: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix} ${name}`, value]))
}

function unprefixed<T>(prefix: string, values: Readonly<Record<string, T>>): Record<string, T> {
  const own = Object.entries(values).filter(([name]) => name.startsWith(`${prefix} `))
  return Object.fromEntries(own.map(([name, value]) => [name.slice(prefix.length + 1), value]))
}

/** The values of queries, each of one block, with the outcomes of the calls that went along. */
export type Snapshot<T> = {
  /** The earliest block that a value is of. */
  readonly block: BlockHeader
  /** The block of each value: one for all where `at` was given or one call read all. */
  readonly blocks: readonly BlockHeader[]
  readonly values: readonly T[]
  readonly outcomes: readonly RpcOutcome[]
}

/** The block to read at instead of the latest. */
type ReadAt = { readonly at?: bigint | undefined }

/** How to read; `along` are calls to send in the same HTTP request. */
type ReadOptions = ReadAt & { readonly along?: readonly RpcRequest[] }

/** Reads contracts of one chain, each read in one HTTP request. */
export type ChainReader = ReturnType<typeof chainReader> & {
  /** The same chain as other hosts see it, where more than one is configured. */
  readonly witness?: ChainReader | undefined
}

// On Arbitrum the EVM's block number is the parent chain's; this precompile knows the chain's own.
const ARB_SYS: Address = '0x0000000000000000000000000000000000000064'
const arbSysAbi = parseAbi(['function arbBlockNumber() view returns (uint256)'])

const blockViews = {
  blockNumber: view(MULTICALL3, multicall3Abi, 'getBlockNumber', []),
  timestamp: view(MULTICALL3, multicall3Abi, 'getCurrentBlockTimestamp', []),
}
const arbitrumBlockViews = { ...blockViews, arbBlockNumber: view(ARB_SYS, arbSysAbi, 'arbBlockNumber', []) }

/** What a number and a Date can hold. */
const LAST_NUMBER = BigInt(Number.MAX_SAFE_INTEGER)
const LAST_SECOND = 8_640_000_000_000n

/** How many contracts one eth_call reads at most. */
const MOST_CONTRACTS = 100
/**
 * How many hexadecimal digits it has at most, which bounds its gas too: 100 positions are 0.9 million digits and
 * 17 million gas, where the tightest nodes end at two million and 50 million.
 */
const MOST_DIGITS = 1_200_000
/** Into how many parts a call is cut that a contract makes fail: with one more for the block, what any node takes in a batch. */
const PARTS = 9

/** How many reads a node that refuses state overrides is spared them. */
const ASK_AGAIN_AFTER = 500

/**
 * A reader of one chain. It remembers, while it lives, the code of the contracts whose storage it reads, and whether the
 * chain's nodes refuse state overrides.
 */
export function chainReader(chain: EvmChain, rpc: Rpc) {
  const codes = originalCodes()
  let reads = 0
  let refusals = 0

  /**
   * Reads contracts, each at one block, the latest unless told, and sends `along` in the same HTTP request. One eth_call
   * for every 100 contracts; two more when it is the first read of a contract's storage, and one more for contracts whose
   * code cannot be sent along. A second request only where those calls are of two blocks, or where the node refuses state
   * overrides. Throws AppError `upstream_*`.
   */
  async function read<T>(queries: readonly Query<T>[], options: ReadOptions = {}): Promise<Snapshot<T>> {
    const { parts, outcomes } = await readParts(queries, options)
    return joinParts(parts.map(orThrow), outcomes)
  }

  /** Reads one contract; like `read`. */
  async function readOne<T>(query: Query<T>, options?: ReadOptions) {
    const { block, values, outcomes } = await read([query], options)
    return { block, value: values[0] as T, outcomes }
  }

  /**
   * Like `read`, of contracts of which some may be broken: where one makes its call fail, by burning all the gas, the
   * contracts of that call alone are read again in smaller parts, until the broken one is by itself and has no value.
   * Throws AppError `upstream_*` when the node answers nothing of use, or none of the contracts can be read.
   */
  async function readEach<T>(
    queries: readonly Query<T>[],
    options: ReadOptions = {},
  ): Promise<Snapshot<T | undefined>> {
    const { parts, outcomes } = await readParts(queries, options)
    const readable = await Promise.all(
      parts.map((part) => ('refused' in part ? readApart(part.refused, options) : [part])),
    )
    const snapshot = joinParts<T | undefined>(readable.flat(), outcomes)
    if (queries.length > 0 && snapshot.values.every((value) => value === undefined)) {
      throw badAnswer('none of the contracts can be read')
    }
    return snapshot
  }

  /** What one call each reads, all in one HTTP request. */
  async function readParts<T>(queries: readonly Query<T>[], { along = [], ...options }: ReadOptions) {
    reads += 1
    const attempts = cutIntoCalls(plan(queries)).map((planned) => attemptOf(chain, planned, options))
    const answered = await rpc([...attempts.flatMap(({ requests }) => requests), ...along])
    const parts = await Promise.all(
      attempts.map(async (attempt) => {
        const part = await finish(attempt, answered.splice(0, attempt.requests.length))
        return 'refused' in part && attempt.hasOverrides ? readPlainly(part.refused, options) : part
      }),
    )
    return { parts, outcomes: answered }
  }

  /** The same without state overrides, for a node that may not take them. */
  async function readPlainly<T>(queries: readonly Query<T>[], { at }: ReadAt): Promise<Part<T> | Refused<T>> {
    const plain = attemptOf(chain, plan(queries, false), { at })
    return finish(plain, await rpc(plain.requests))
  }

  /** The same in ever smaller parts, of contracts of which one made their call fail. */
  async function readApart<T>(queries: readonly Query<T>[], options: ReadAt): Promise<Part<T | undefined>[]> {
    const smaller = queries.length > 1 ? cut(queries, Math.ceil(queries.length / PARTS)) : []
    const attempts = smaller.map((part) => attemptOf(chain, plan(part), options))
    const [empty, ...answered] = await rpc([
      ...attemptOf<never>(chain, [], options).requests,
      ...attempts.flatMap(({ requests }) => requests),
    ])
    if (!empty || 'error' in empty) throw badAnswer('the node runs no call at all')
    const broken = { ...decodeViews(chain, [], empty), values: [undefined] }
    if (attempts.length === 0) return [broken]
    const parts = await Promise.all(
      attempts.map(async (attempt) => {
        const part = await finish(attempt, answered.splice(0, attempt.requests.length))
        if (!('refused' in part)) return [part]
        return part.refused.length > 1 ? readApart(part.refused, options) : [broken]
      }),
    )
    return parts.flat()
  }

  /** How each contract's storage is to be read. */
  function plan<T>(queries: readonly Query<T>[], withOverrides = !areOverridesRefused()): Planned<T>[] {
    return queries.map((query) => {
      if (!hasSlots(query)) return { query, storage: 'none' }
      return { query, storage: withOverrides ? codes.get(query.address, reads) : 'word by word' }
    })
  }

  /** Once can be a passing fault of the node; a node that refuses is asked again now and then. */
  function areOverridesRefused(): boolean {
    return refusals > 1 && refusals % ASK_AGAIN_AFTER !== 0
  }

  /** What the attempt read, with what it takes more: the storage at the views' block, where the two are of two blocks. */
  async function finish<T>(attempt: Attempt<T>, outcomes: readonly RpcOutcome[]): Promise<Part<T> | Refused<T>> {
    const { planned, apart, unknown, options } = attempt
    const queries = planned.map(({ query }) => query)
    const [views, ...others] = outcomes
    const storage = apart.length > 0 ? others.shift() : undefined
    for (const [index, code] of decodeCodes(others.shift()).entries()) {
      if (unknown[index]) codes.remember(unknown[index], code, reads)
    }
    if (views && 'error' in views) return { refused: queries }

    const { block, answers, words } = decodeViews(chain, planned, views)
    const stored = apart.length > 0 ? decodeStorage(chain, apart, storage) : undefined
    if (stored && stored.block.number !== block.number) {
      if (options.at !== undefined) throw badAnswer('two calls at one block are of different blocks')
      const at = stored.block.number < block.number ? stored.block.number : block.number
      const again = attemptOf(chain, plan(queries), { ...options, at })
      return finish(again, await rpc(again.requests))
    }

    const told = queries.map((query, index) => words[index] ?? stored?.words.get(query))
    const areAllTold = told.every((ofOne) => ofOne !== undefined)
    if (queries.some(hasSlots)) refusals = areAllTold ? 0 : refusals + 1
    const known = areAllTold ? told : await readWords(queries, block.number)
    const values = queries.map(({ parse }, index) =>
      parse({ words: known[index] ?? {}, answers: answers[index] ?? {} }),
    )
    return { block, values }
  }

  /** What eth_simulateV1 says of each of these lists of transactions of `from`, in one HTTP request. Throws AppError `upstream_*`. */
  function simulate(from: Address, variants: readonly (readonly Transaction[])[]): Promise<RpcOutcome[]> {
    return rpc(variants.map((transactions) => simulationRequest(from, transactions)))
  }

  /** The storage words one by one, for nodes that refuse state overrides. */
  async function readWords(queries: readonly Reads[], at: bigint): Promise<Record<string, bigint>[]> {
    const requests = queries.flatMap(({ address, slots }) =>
      Object.values(slots).map((slot) => ({ method: 'eth_getStorageAt', params: [address, slot, numberToHex(at)] })),
    )
    const outcomes = requests.length > 0 ? await rpc(requests) : []
    return queries.map(({ slots }) =>
      Object.fromEntries(Object.keys(slots).map((name) => [name, resultWord(outcomes.shift())])),
    )
  }

  return {
    chain,
    read,
    readEach,
    readOne,
    simulate,
    /** The outcomes of other calls, in one HTTP request. Throws AppError `upstream_*`. */
    request: rpc,
    /** All events of the filter in these blocks; see `readLogs`. */
    logs: (filter: LogFilter, from: bigint, to: bigint) => readLogs(rpc, filter, from, to),
    /** The events of the filter from a block on, until there are enough of them; see `readLogsUntil`. */
    logsUntil: (filter: LogFilter, from: bigint, to: bigint, enough: (events: number) => boolean) =>
      readLogsUntil(rpc, filter, from, to, enough),
  }
}

/**
 * A query, and how the storage of its contract is read: in the call of the views, with the code that moves out of the
 * way; in a call of its own, where the code cannot move or is `unknown` and asked for; or word by word.
 */
type Planned<T> = {
  readonly query: Query<T>
  readonly storage: OriginalCode | 'apart' | 'unknown' | 'word by word' | 'none'
}

/** What one call reads: queries that it was asked for and their values, all of one block. */
type Part<T> = { readonly block: BlockHeader; readonly values: readonly T[] }

/** The queries whose call the node would not run, or not to its end. */
type Refused<T> = { readonly refused: readonly Query<T>[] }

/** The calls that read some contracts at one block: of their views first, then of storage that is `apart`, then of `unknown` code. */
type Attempt<T> = {
  readonly planned: readonly Planned<T>[]
  readonly apart: readonly Query<T>[]
  readonly unknown: readonly Address[]
  readonly options: ReadAt
  readonly requests: readonly RpcRequest[]
  /** Whether the call of the views has state overrides. */
  readonly hasOverrides: boolean
}

function attemptOf<T>(chain: EvmChain, planned: readonly Planned<T>[], options: ReadAt): Attempt<T> {
  const { at } = options
  const tag = at === undefined ? 'latest' : numberToHex(at)
  const isApart = ({ storage }: Planned<T>) => storage === 'apart' || storage === 'unknown'
  const apart = planned.filter(isApart).map(({ query }) => query)
  const unknown = planned.flatMap(({ query, storage }) => (storage === 'unknown' ? [query.address] : []))
  const views = viewsCall(chain, planned, tag)
  return {
    planned,
    apart,
    unknown,
    options,
    requests: [
      views,
      ...(apart.length > 0 ? [storageCall(chain, apart, tag)] : []),
      ...(unknown.length > 0 ? [codeCall(unknown, tag)] : []),
    ],
    hasOverrides: views.params.length > 2,
  }
}

/** The queries in groups that one call takes each; one empty group where there are none, which tells the block. */
function cutIntoCalls<T>(planned: readonly Planned<T>[]): Planned<T>[][] {
  let group: Planned<T>[] = []
  const groups = [group]
  let codes = new Set<Hex>()
  let digits = 0
  for (const one of planned) {
    let more = digitsOf(one, codes)
    if (group.length === MOST_CONTRACTS || (group.length > 0 && digits + more > MOST_DIGITS)) {
      group = []
      groups.push(group)
      codes = new Set()
      digits = 0
      more = digitsOf(one, codes)
    }
    group.push(one)
    digits += more
    if (typeof one.storage === 'object') codes.add(one.storage.code)
  }
  return groups
}

/** How many digits a query adds to a call that has these codes. */
function digitsOf({ query, storage }: Planned<unknown>, codes: ReadonlySet<Hex>): number {
  const calls = viewsAndStorage(query, storage).reduce((sum, call) => sum + encodedLength(call), 0)
  if (typeof storage !== 'object') return calls
  return calls + storage.program.length + (codes.has(storage.code) ? 0 : storage.code.length)
}

function cut<T>(items: readonly T[], length: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / length) }, (_, index) =>
    items.slice(index * length, (index + 1) * length),
  )
}

function joinParts<T>(parts: readonly Part<T>[], outcomes: readonly RpcOutcome[]): Snapshot<T> {
  const [first, ...others] = parts
  if (!first) throw new Error('A read has one part at least.')
  return {
    block: others.reduce((earliest, { block }) => (block.number < earliest.number ? block : earliest), first.block),
    blocks: parts.flatMap(({ block, values }) => values.map(() => block)),
    values: parts.flatMap(({ values }) => values),
    outcomes,
  }
}

function orThrow<T>(part: Part<T> | Refused<T>): Part<T> {
  if ('refused' in part) throw badAnswer('the node would not run a call, or not to its end')
  return part
}

function hasSlots({ slots }: Reads): boolean {
  for (const _ in slots) return true
  return false
}

function viewsCall(chain: EvmChain, planned: readonly Planned<unknown>[], tag: string): RpcRequest {
  const calls = planned.flatMap(({ query, storage }) => viewsAndStorage(query, storage))
  const overrides: Record<Address, { code?: Hex; stateDiff?: Record<Hex, Hex> }> = {}
  for (const { query, storage } of planned) {
    if (typeof storage === 'object') Object.assign(overrides, storageOverrides(query.address, storage))
  }
  const hasOverrides = Object.keys(overrides).length > 0
  return aggregateCall([...Object.values(blockViewsOf(chain)), ...calls], tag, hasOverrides ? overrides : undefined)
}

function viewsAndStorage({ address, slots, views }: Reads, storage: Planned<unknown>['storage']): AggregateCall[] {
  const calls: AggregateCall[] = Object.values(views)
  if (typeof storage === 'object') calls.push({ to: address, data: encodeStorageCall(Object.values(slots)) })
  return calls
}

function storageCall(chain: EvmChain, queries: readonly Reads[], tag: string): RpcRequest {
  const loads = queries.map(({ address, slots }) => ({ to: address, data: encodeStorageCall(Object.values(slots)) }))
  const overrides = Object.assign({}, ...queries.map(({ address }) => storageOverrides(address)))
  return aggregateCall([...Object.values(blockViewsOf(chain)), ...loads], tag, overrides)
}

function codeCall(contracts: readonly Address[], tag: string): RpcRequest {
  return aggregateCall(contracts.map(encodeCodeCall), tag, codeReaderOverrides)
}

function aggregateCall(calls: readonly AggregateCall[], tag: string, overrides: object | undefined): RpcRequest {
  const params = [{ to: MULTICALL3, data: encodeAggregate(calls) }, tag, ...(overrides ? [overrides] : [])]
  return { method: 'eth_call', params }
}

/** The block, and of each contract the answers of its views and the words that were read along; undefined for words that were not. */
function decodeViews(chain: EvmChain, planned: readonly Planned<unknown>[], outcome: RpcOutcome | undefined) {
  const returned = decodeOutcome(outcome).values()
  const block = takeBlock(chain, returned)
  const answers: Record<string, unknown>[] = []
  const words: (Record<string, bigint> | undefined)[] = []
  for (const { query, storage } of planned) {
    answers.push(takeAnswers(query.views, returned))
    if (storage === 'none') words.push({})
    else words.push(typeof storage === 'object' ? parseWords(query, returned.next().value) : undefined)
  }
  return { block, answers, words }
}

/** The storage words by query, or undefined where the node would not run the call with its overrides. */
function decodeStorage(chain: EvmChain, queries: readonly Reads[], outcome: RpcOutcome | undefined) {
  if (outcome && 'error' in outcome) return undefined
  const returned = decodeOutcome(outcome).values()
  const block = takeBlock(chain, returned)
  return { block, words: new Map(queries.map((query) => [query, parseWords(query, returned.next().value)])) }
}

/** The code of each contract, undefined where it is too long; nothing where the node would not run the call with its overrides. */
function decodeCodes(outcome: RpcOutcome | undefined): (Hex | undefined)[] {
  return outcome && 'result' in outcome ? decodeOutcome(outcome) : []
}

/** The words of a query's slots; undefined where something else answered than the program that loads them. */
function parseWords({ slots }: Reads, data: Hex | undefined): Record<string, bigint> | undefined {
  const names = Object.keys(slots)
  if (data?.length !== 2 + names.length * 64) return undefined
  return Object.fromEntries(names.map((name, i) => [name, BigInt(`0x${data.slice(2 + i * 64, 66 + i * 64)}`)]))
}

/** ArbSys is asked on Arbitrum alone: other chains have something else at its address. */
function blockViewsOf({ id }: EvmChain): typeof blockViews & Partial<typeof arbitrumBlockViews> {
  return id === 42161 ? arbitrumBlockViews : blockViews
}

function takeBlock(chain: EvmChain, returned: Iterator<Hex | undefined>): BlockHeader {
  const { arbBlockNumber, blockNumber, timestamp } = takeAnswers(blockViewsOf(chain), returned)
  const number = arbBlockNumber ?? blockNumber
  if (number === undefined || timestamp === undefined) throw badAnswer('the block does not tell its number and time')
  if (number > LAST_NUMBER || timestamp > LAST_SECOND) throw badAnswer('no chain has such a block')
  return { number, timestamp }
}

/** Takes the answers of these views off the front of what the aggregate returned. */
function takeAnswers<Views extends Record<string, View<unknown>>>(
  views: Views,
  returned: Iterator<Hex | undefined>,
): Answers<Views> {
  const answers: Record<string, unknown> = {}
  for (const [name, { decode }] of Object.entries(views)) {
    const data = returned.next().value
    answers[name] = data === undefined ? undefined : decodeOrUndefined(decode, data)
  }
  return answers as Answers<Views>
}

function decodeOrUndefined<T>(decode: (data: Hex) => T, data: Hex): T | undefined {
  try {
    return decode(data)
  } catch {
    // Not the shape that we asked for: to us that contract has no such function.
    return undefined
  }
}

function decodeOutcome(outcome: RpcOutcome | undefined): (Hex | undefined)[] {
  const data = resultHex(outcome)
  try {
    return decodeAggregate(data)
  } catch (cause) {
    throw badAnswer('not the return data of aggregate3', cause)
  }
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

function badAnswer(why: string, cause?: unknown): AppError {
  return new AppError('upstream_bad_answer', { cause: new Error(why, { cause }) })
}
