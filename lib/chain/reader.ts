import { type Address, concat, type Hex, hexToBigInt, isHex, numberToHex, parseAbi, size, slice } from 'viem'
import { AppError } from '../errors.ts'
import { coalesced } from './coalesced.ts'
import { type LogFilter, readLogs, readLogsUntil } from './logs.ts'
import { decodeAggregate, encodeAggregate, MULTICALL3, multicall3Abi } from './multicall.ts'
import type { EvmChain } from './registry.ts'
import type { Rpc, RpcOutcome, RpcRequest } from './rpc.ts'
import { simulationRequest } from './simulation.ts'
import type { Transaction } from './transaction.ts'
import { type Answers, type View, view } from './view.ts'

/** What to read of one contract: named storage slots of its own, and named views of it or of others. */
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

/** The block that a reading is of: its number and its time in seconds since 1970. */
export type Block = { readonly number: bigint; readonly timestamp: bigint }

/** The values of queries, all of one block, with the outcomes of the calls that went along. */
export type Snapshot<T> = {
  readonly block: Block
  readonly values: readonly T[]
  readonly outcomes: readonly RpcOutcome[]
}

type ReadOptions = {
  /** Calls to send in the same HTTP request. */
  readonly along?: readonly RpcRequest[]
  /** The block to read at instead of the latest. */
  readonly at?: bigint
  /** A storage word that the views are to see instead of the real one; left out for nodes that refuse state overrides. */
  readonly pretend?: { readonly address: Address; readonly slot: Hex; readonly word: Hex }
}

/** Reads contracts of one chain, each read in one HTTP request. */
export type ChainReader = ReturnType<typeof chainReader> & {
  /** The same chain as other hosts see it, where more than one is configured. */
  readonly witness?: ChainReader | undefined
}

/**
 * Loads the storage words whose slots its calldata lists. Put in place of a contract's code by a state override,
 * it reads that contract's storage in an eth_call, all words at one block.
 */
const STORAGE_LOADER: Hex = '0x5f5b803554815260200180369010600157365ff3'

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

/** How many reads a node that refuses state overrides is spared them. */
const ASK_AGAIN_AFTER = 500

/** A reader of one chain. It remembers, while it lives, whether the chain's nodes refuse state overrides. */
export function chainReader(chain: EvmChain, rpc: Rpc) {
  let refusals = 0

  /**
   * Reads contracts at one block, the latest unless told, and sends `along` in the same HTTP request.
   * Two eth_calls whatever the number of contracts; a second request only when a block came between the two calls
   * or the node refuses state overrides. Throws AppError `upstream_*`.
   */
  async function read<T>(queries: readonly Query<T>[], options: ReadOptions = {}): Promise<Snapshot<T>> {
    const { along = [], at, pretend } = options
    // Once can be a passing fault of the node; a node that refuses is asked again now and then.
    const overridesRefused = refusals > 1 && refusals % ASK_AGAIN_AFTER !== 0
    const tag = at === undefined ? 'latest' : numberToHex(at)
    const byOverride = !overridesRefused && queries.some(hasSlots)
    const [views, ...rest] = await rpc([
      viewsCall(chain, queries, tag, overridesRefused ? undefined : pretend),
      ...(byOverride ? [storageCall(chain, queries, tag)] : []),
      ...along,
    ])
    const { block, answers } = decodeViews(chain, queries, views)
    const stored = byOverride ? decodeStorage(chain, queries, rest.shift()) : undefined
    if (byOverride || overridesRefused) refusals = stored ? 0 : refusals + 1

    if (stored && stored.block.number !== block.number) {
      if (at !== undefined) throw badAnswer('two calls at one block are of different blocks')
      const both = stored.block.number < block.number ? stored.block.number : block.number
      return { ...(await read(queries, { ...options, along: [], at: both })), outcomes: rest }
    }
    const words = stored?.words ?? (await readWords(queries, block.number))
    const values = queries.map(({ parse }, index) =>
      parse({ words: words[index] ?? {}, answers: answers[index] ?? {} }),
    )
    return { block, values, outcomes: rest }
  }

  /** Reads one contract; like `read`. */
  async function readOne<T>(query: Query<T>, options?: ReadOptions) {
    const { block, values, outcomes } = await read([query], options)
    return { block, value: values[0] as T, outcomes }
  }

  /**
   * Reads contracts of which some may be broken, at one block: where one makes the whole call fail, by burning all its
   * gas, each is read by itself, in one more request, and a broken one has no value. Throws AppError `upstream_*` when
   * the node answers nothing of use, or none of the contracts can be read.
   */
  async function readEach<T>(
    queries: readonly Query<T>[],
  ): Promise<{ block: Block; values: readonly (T | undefined)[] }> {
    try {
      return await read(queries)
    } catch (error) {
      if (!(error instanceof AppError && error.cause instanceof CallRefused) || queries.length < 2) throw error
    }
    const { block } = await read([])
    const each = chainReader(chain, coalesced(rpc))
    const looks = await Promise.allSettled(queries.map((one) => each.readOne(one, { at: block.number })))
    if (looks.every(({ status }) => status === 'rejected')) throw badAnswer('none of the contracts can be read')
    return { block, values: looks.map((look) => (look.status === 'fulfilled' ? look.value.value : undefined)) }
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

function viewsCall(
  chain: EvmChain,
  queries: readonly Reads[],
  tag: string,
  pretend: ReadOptions['pretend'],
): RpcRequest {
  const calls = [...Object.values(blockViewsOf(chain)), ...queries.flatMap(({ views }) => Object.values(views))]
  const overrides = pretend && { [pretend.address]: { stateDiff: { [pretend.slot]: pretend.word } } }
  return {
    method: 'eth_call',
    params: [{ to: MULTICALL3, data: encodeAggregate(calls) }, tag, ...(overrides ? [overrides] : [])],
  }
}

function storageCall(chain: EvmChain, queries: readonly Reads[], tag: string): RpcRequest {
  const stored = queries.filter(hasSlots)
  const loads = stored.map(({ address, slots }) => ({ to: address, data: concat(Object.values(slots)) }))
  const data = encodeAggregate([...Object.values(blockViewsOf(chain)), ...loads])
  const overrides = Object.fromEntries(stored.map(({ address }) => [address, { code: STORAGE_LOADER }]))
  return { method: 'eth_call', params: [{ to: MULTICALL3, data }, tag, overrides] }
}

function hasSlots({ slots }: Reads): boolean {
  return Object.keys(slots).length > 0
}

function decodeViews(chain: EvmChain, queries: readonly Reads[], outcome: RpcOutcome | undefined) {
  const returned = decodeOutcome(outcome)
  const block = takeBlock(chain, returned)
  return { block, answers: queries.map(({ views }) => takeAnswers(views, returned)) }
}

/** The storage words, or undefined where the node would not run the call with its overrides. */
function decodeStorage(chain: EvmChain, queries: readonly Reads[], outcome: RpcOutcome | undefined) {
  if (outcome && 'error' in outcome) return undefined
  const returned = decodeOutcome(outcome)
  const block = takeBlock(chain, returned)
  const words = queries.map(({ slots }) => {
    const names = Object.keys(slots)
    const loaded = names.length > 0 ? returned.shift() : '0x'
    if (loaded === undefined || size(loaded) !== names.length * 32) return undefined
    return Object.fromEntries(names.map((name, i) => [name, hexToBigInt(slice(loaded, i * 32, i * 32 + 32))]))
  })
  return words.every((word) => word !== undefined) ? { block, words } : undefined
}

/** ArbSys is asked on Arbitrum alone: other chains have something else at its address. */
function blockViewsOf({ id }: EvmChain): typeof blockViews & Partial<typeof arbitrumBlockViews> {
  return id === 42161 ? arbitrumBlockViews : blockViews
}

function takeBlock(chain: EvmChain, returned: (Hex | undefined)[]): Block {
  const { arbBlockNumber, blockNumber, timestamp } = takeAnswers(blockViewsOf(chain), returned)
  const number = arbBlockNumber ?? blockNumber
  if (number === undefined || timestamp === undefined) throw badAnswer('the block does not tell its number and time')
  if (number > LAST_NUMBER || timestamp > LAST_SECOND) throw badAnswer('no chain has such a block')
  return { number, timestamp }
}

/** Takes the answers of these views off the front of what the aggregate returned. */
function takeAnswers<Views extends Record<string, View<unknown>>>(
  views: Views,
  returned: (Hex | undefined)[],
): Answers<Views> {
  const entries = Object.entries(views).map(([name, { decode }]) => {
    const data = returned.shift()
    return [name, data === undefined ? undefined : decodeOrUndefined(decode, data)]
  })
  return Object.fromEntries(entries) as Answers<Views>
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
  if (outcome && 'error' in outcome) throw new AppError('upstream_bad_answer', { cause: new CallRefused() })
  throw badAnswer('a call has no result')
}

/** Why there is no result of a call: the node would not run it, or not to its end. */
class CallRefused extends Error {
  constructor() {
    super('the node refused a call')
  }
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
