import { type Address, type Hex, hexToBigInt, isHex, numberToHex, parseAbi, size } from 'viem'
import { AppError } from '../errors.ts'
import { type Answers, type Call, call } from './call.ts'
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

/** What to read of one contract and what it means. */
export type ReadPlan<T> = Reads & { readonly parse: (reading: Reading<Reads>) => T }

/** The query that reads this and understands it so. */
export function readPlan<const R extends Reads, T>(reads: R, parse: (reading: Reading<R>) => T): ReadPlan<T> {
  // A reading has exactly the names that were asked for, which the type of a list of queries cannot say.
  return { ...reads, parse: (reading) => parse(reading as Reading<R>) }
}

/** The same query, its value understood further. */
export function mapReadPlan<T, U>({ parse, ...reads }: ReadPlan<T>, map: (value: T) => U): ReadPlan<U> {
  return { ...reads, parse: (reading) => map(parse(reading)) }
}

/** Two queries of one contract as one. */
export function joinReadPlans<L, R>(left: ReadPlan<L>, right: ReadPlan<R>): ReadPlan<readonly [L, R]> {
  return {
    address: left.address,
    slots: { ...prefixed('left', left.slots), ...prefixed('right', right.slots) },
    calls: { ...prefixed('left', left.calls), ...prefixed('right', right.calls) },
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
type ReadOptions = ReadAt & { readonly extraCalls?: readonly RpcRequest[] }

/** Reads contracts of one chain, each read in one HTTP request. */
export type ChainReader = ReturnType<typeof chainReader> & {
  /** The same chain as other hosts see it, where more than one is configured. */
  readonly witness?: ChainReader | undefined
}

// On Arbitrum the EVM's block number is the parent chain's; this precompile knows the chain's own.
const ARB_SYS: Address = '0x0000000000000000000000000000000000000064'
const arbSysAbi = parseAbi(['function arbBlockNumber() view returns (uint256)'])

const blockCalls = {
  blockNumber: call(MULTICALL3, multicall3Abi, 'getBlockNumber', []),
  timestamp: call(MULTICALL3, multicall3Abi, 'getCurrentBlockTimestamp', []),
}
const arbitrumBlockCalls = { ...blockCalls, arbBlockNumber: call(ARB_SYS, arbSysAbi, 'arbBlockNumber', []) }

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
  async function read<T>(plans: readonly ReadPlan<T>[], options: ReadOptions = {}): Promise<Snapshot<T>> {
    const { parts, outcomes } = await readParts(plans, options)
    return joinParts(parts.map(orThrow), outcomes)
  }

  /** Reads one contract; like `read`. */
  async function readOne<T>(readPlan: ReadPlan<T>, options?: ReadOptions) {
    const { block, values, outcomes } = await read([readPlan], options)
    return { block, value: values[0] as T, outcomes }
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
    const { parts, outcomes } = await readParts(plans, options)
    const readable = await Promise.all(
      parts.map((part) => ('refused' in part ? readApart(part.refused, options) : [part])),
    )
    const snapshot = joinParts<T | undefined>(readable.flat(), outcomes)
    if (plans.length > 0 && snapshot.values.every((value) => value === undefined)) {
      throw badAnswer('none of the contracts can be read')
    }
    return snapshot
  }

  /** What one call each reads, all in one HTTP request. */
  async function readParts<T>(plans: readonly ReadPlan<T>[], { extraCalls = [], ...options }: ReadOptions) {
    reads += 1
    const attempts = cutIntoCalls(plan(plans)).map((planned) => attemptOf(chain, planned, options))
    const answered = await rpc([...attempts.flatMap(({ requests }) => requests), ...extraCalls])
    const parts = await Promise.all(
      attempts.map(async (attempt) => {
        const part = await finish(attempt, answered.splice(0, attempt.requests.length))
        return 'refused' in part && attempt.hasOverrides ? readPlainly(part.refused, options) : part
      }),
    )
    return { parts, outcomes: answered }
  }

  /** The same without state overrides, for a node that may not take them. */
  async function readPlainly<T>(plans: readonly ReadPlan<T>[], { at }: ReadAt): Promise<Part<T> | Refused<T>> {
    const plain = attemptOf(chain, plan(plans, false), { at })
    return finish(plain, await rpc(plain.requests))
  }

  /** The same in ever smaller parts, of contracts of which one made their call fail. */
  async function readApart<T>(plans: readonly ReadPlan<T>[], options: ReadAt): Promise<Part<T | undefined>[]> {
    const smaller = plans.length > 1 ? cut(plans, Math.ceil(plans.length / PARTS)) : []
    const attempts = smaller.map((part) => attemptOf(chain, plan(part), options))
    const [empty, ...answered] = await rpc([
      ...attemptOf<never>(chain, [], options).requests,
      ...attempts.flatMap(({ requests }) => requests),
    ])
    if (!empty || 'error' in empty) throw badAnswer('the node runs no call at all')
    const broken = { ...decodeCalls(chain, [], empty), values: [undefined] }
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
  function plan<T>(plans: readonly ReadPlan<T>[], withOverrides = !areOverridesRefused()): Planned<T>[] {
    return plans.map((readPlan) => {
      if (!hasSlots(readPlan)) return { readPlan, storage: 'none' }
      return { readPlan, storage: withOverrides ? codes.get(readPlan.address, reads) : 'word by word' }
    })
  }

  /** Once can be a passing fault of the node; a node that refuses is asked again now and then. */
  function areOverridesRefused(): boolean {
    return refusals > 1 && refusals % ASK_AGAIN_AFTER !== 0
  }

  /** What the attempt read, with what it takes more: the storage at the calls' block, where the two are of two blocks. */
  async function finish<T>(attempt: Attempt<T>, outcomes: readonly RpcOutcome[]): Promise<Part<T> | Refused<T>> {
    const { planned, apart, unknown, options } = attempt
    const plans = planned.map(({ readPlan }) => readPlan)
    const [calls, ...others] = outcomes
    const storage = apart.length > 0 ? others.shift() : undefined
    for (const [index, code] of decodeCodes(others.shift()).entries()) {
      if (unknown[index]) codes.remember(unknown[index], code, reads)
    }
    if (calls && 'error' in calls) return { refused: plans }

    const { block, answers, words } = decodeCalls(chain, planned, calls)
    const stored = apart.length > 0 ? decodeStorage(chain, apart, storage) : undefined
    if (stored && stored.block.number !== block.number) {
      if (options.at !== undefined) throw badAnswer('two calls at one block are of different blocks')
      const at = stored.block.number < block.number ? stored.block.number : block.number
      const again = attemptOf(chain, plan(plans), { ...options, at })
      return finish(again, await rpc(again.requests))
    }

    const told = plans.map((readPlan, index) => words[index] ?? stored?.words.get(readPlan))
    const areAllTold = told.every((ofOne) => ofOne !== undefined)
    if (plans.some(hasSlots)) refusals = areAllTold ? 0 : refusals + 1
    const known = areAllTold ? told : await readWords(plans, block.number)
    const values = plans.map(({ parse }, index) => parse({ words: known[index] ?? {}, answers: answers[index] ?? {} }))
    return { block, values }
  }

  /** What eth_simulateV1 says of each of these lists of transactions of `from`, in one HTTP request. Throws AppError `upstream_*`. */
  function simulate(from: Address, variants: readonly (readonly Transaction[])[]): Promise<RpcOutcome[]> {
    return rpc(variants.map((transactions) => simulationRequest(from, transactions)))
  }

  /** The storage words one by one, for nodes that refuse state overrides. */
  async function readWords(plans: readonly Reads[], at: bigint): Promise<Record<string, bigint>[]> {
    const requests = plans.flatMap(({ address, slots }) =>
      Object.values(slots).map((slot) => ({ method: 'eth_getStorageAt', params: [address, slot, numberToHex(at)] })),
    )
    const outcomes = requests.length > 0 ? await rpc(requests) : []
    return plans.map(({ slots }) =>
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
 * A query, and how the storage of its contract is read: in the call of the calls, with the code that moves out of the
 * way; in a call of its own, where the code cannot move or is `unknown` and asked for; or word by word.
 */
type Planned<T> = {
  readonly readPlan: ReadPlan<T>
  readonly storage: OriginalCode | 'apart' | 'unknown' | 'word by word' | 'none'
}

/** What one call reads: queries that it was asked for and their values, all of one block. */
type Part<T> = { readonly block: BlockHeader; readonly values: readonly T[] }

/** The queries whose call the node would not run, or not to its end. */
type Refused<T> = { readonly refused: readonly ReadPlan<T>[] }

/** The calls that read some contracts at one block: of their calls first, then of storage that is `apart`, then of `unknown` code. */
type Attempt<T> = {
  readonly planned: readonly Planned<T>[]
  readonly apart: readonly ReadPlan<T>[]
  readonly unknown: readonly Address[]
  readonly options: ReadAt
  readonly requests: readonly RpcRequest[]
  /** Whether the call of the calls has state overrides. */
  readonly hasOverrides: boolean
}

function attemptOf<T>(chain: EvmChain, planned: readonly Planned<T>[], options: ReadAt): Attempt<T> {
  const { at } = options
  const tag = at === undefined ? 'latest' : numberToHex(at)
  const isApart = ({ storage }: Planned<T>) => storage === 'apart' || storage === 'unknown'
  const apart = planned.filter(isApart).map(({ readPlan }) => readPlan)
  const unknown = planned.flatMap(({ readPlan, storage }) => (storage === 'unknown' ? [readPlan.address] : []))
  const calls = aggregated(chain, planned, tag)
  return {
    planned,
    apart,
    unknown,
    options,
    requests: [
      calls,
      ...(apart.length > 0 ? [storageCall(chain, apart, tag)] : []),
      ...(unknown.length > 0 ? [codeCall(unknown, tag)] : []),
    ],
    hasOverrides: calls.params.length > 2,
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
function digitsOf({ readPlan, storage }: Planned<unknown>, codes: ReadonlySet<Hex>): number {
  const calls = callsAndStorage(readPlan, storage).reduce((sum, call) => sum + encodedLength(call), 0)
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

function aggregated(chain: EvmChain, planned: readonly Planned<unknown>[], tag: string): RpcRequest {
  const calls = planned.flatMap(({ readPlan, storage }) => callsAndStorage(readPlan, storage))
  const overrides: Record<Address, { code?: Hex; stateDiff?: Record<Hex, Hex> }> = {}
  for (const { readPlan, storage } of planned) {
    if (typeof storage === 'object') Object.assign(overrides, storageOverrides(readPlan.address, storage))
  }
  const hasOverrides = Object.keys(overrides).length > 0
  return aggregateCall([...Object.values(blockCallsOf(chain)), ...calls], tag, hasOverrides ? overrides : undefined)
}

function callsAndStorage({ address, slots, calls }: Reads, storage: Planned<unknown>['storage']): AggregateCall[] {
  const all: AggregateCall[] = Object.values(calls)
  if (typeof storage === 'object') all.push({ to: address, data: encodeStorageCall(Object.values(slots)) })
  return all
}

function storageCall(chain: EvmChain, plans: readonly Reads[], tag: string): RpcRequest {
  const loads = plans.map(({ address, slots }) => ({ to: address, data: encodeStorageCall(Object.values(slots)) }))
  const overrides = Object.assign({}, ...plans.map(({ address }) => storageOverrides(address)))
  return aggregateCall([...Object.values(blockCallsOf(chain)), ...loads], tag, overrides)
}

function codeCall(contracts: readonly Address[], tag: string): RpcRequest {
  return aggregateCall(contracts.map(encodeCodeCall), tag, codeReaderOverrides)
}

function aggregateCall(calls: readonly AggregateCall[], tag: string, overrides: object | undefined): RpcRequest {
  const params = [{ to: MULTICALL3, data: encodeAggregate(calls) }, tag, ...(overrides ? [overrides] : [])]
  return { method: 'eth_call', params }
}

/** The block, and of each contract the answers of its calls and the words that were read along; undefined for words that were not. */
function decodeCalls(chain: EvmChain, planned: readonly Planned<unknown>[], outcome: RpcOutcome | undefined) {
  const returned = decodeOutcome(outcome).values()
  const block = takeBlock(chain, returned)
  const answers: Record<string, unknown>[] = []
  const words: (Record<string, bigint> | undefined)[] = []
  for (const { readPlan, storage } of planned) {
    answers.push(takeAnswers(readPlan.calls, returned))
    if (storage === 'none') words.push({})
    else words.push(typeof storage === 'object' ? parseWords(readPlan, returned.next().value) : undefined)
  }
  return { block, answers, words }
}

/** The storage words by query, or undefined where the node would not run the call with its overrides. */
function decodeStorage(chain: EvmChain, plans: readonly Reads[], outcome: RpcOutcome | undefined) {
  if (outcome && 'error' in outcome) return undefined
  const returned = decodeOutcome(outcome).values()
  const block = takeBlock(chain, returned)
  return { block, words: new Map(plans.map((readPlan) => [readPlan, parseWords(readPlan, returned.next().value)])) }
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
function blockCallsOf({ id }: EvmChain): typeof blockCalls & Partial<typeof arbitrumBlockCalls> {
  return id === 42161 ? arbitrumBlockCalls : blockCalls
}

function takeBlock(chain: EvmChain, returned: Iterator<Hex | undefined>): BlockHeader {
  const { arbBlockNumber, blockNumber, timestamp } = takeAnswers(blockCallsOf(chain), returned)
  const number = arbBlockNumber ?? blockNumber
  if (number === undefined || timestamp === undefined) throw badAnswer('the block does not tell its number and time')
  if (number > LAST_NUMBER || timestamp > LAST_SECOND) throw badAnswer('no chain has such a block')
  return { number, timestamp }
}

/** Takes the answers of these calls off the front of what the aggregate returned. */
function takeAnswers<Views extends Record<string, Call<unknown>>>(
  calls: Views,
  returned: Iterator<Hex | undefined>,
): Answers<Views> {
  const answers: Record<string, unknown> = {}
  for (const [name, { decode }] of Object.entries(calls)) {
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
