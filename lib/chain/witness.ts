import { hexToBigInt, isHex, numberToHex } from 'viem'
import * as z from 'zod'
import { max } from '../bigint.ts'
import { Address, TransactionHash } from '../codecs.ts'
import { AppError, badAnswer } from '../errors.ts'
import type { HttpEnvironment } from '../http.ts'
import { logger } from '../logger.ts'
import { toResult } from '../result.ts'
import { sha256 } from '../sha256.ts'
import { blocksApart } from './blocks.ts'
import { HexText, Quantity } from './hex.ts'
import { type BlockHeader, blockRequest, HashedHeader, Log, lower, parseResult, Receipt } from './logs.ts'
import { ARB_SYS, decodeAggregate, decodeTargets, MULTICALL3 } from './multicall.ts'
import { createRpc } from './nodes.ts'
import { type ChainReader, chainReader } from './reader.ts'
import { groupByHost, type RpcUrls, readersOf } from './readers.ts'
import type { EvmChain } from './registry.ts'
import type { Rpc, RpcOptions, RpcOutcome, RpcRequest } from './rpc.ts'
import { SimulatedBlocks } from './simulation.ts'

/** A block that was asked for by its number and is this much older than what a host knows is nobody's present. */
const OLDEST_STATE_SECONDS = 60n
/** What an answer may take, and by how much nodes behind one URL are apart. */
const SHORTEST_LAG_SECONDS = 5
const LAG_BLOCKS = 2

/** An aggregate says of its block what these contracts tell, before all else. */
const BLOCK_TELLERS = [MULTICALL3, ARB_SYS].map((address) => address.toLowerCase())
const MOST_BLOCK_CALLS = 3

/** The methods that read the state of a block, and the index of the block in their parameters. */
const STATE_METHODS: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_simulateV1: 1,
  eth_getCode: 1,
  eth_getBalance: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
}

/** The names of blocks that move on, at which each host stands for itself. */
const TAGS: readonly unknown[] = ['latest', 'safe', 'finalized']

/**
 * The readers of all chains, as `chainReaders`, of which each asks two nodes of different hosts, where so many are
 * configured, and tells what both tell: for what people sign and what is recorded. They throw `nodes_disagree` and
 * `second_node_silent` besides.
 */
export function witnessedReaders(rpcUrls: RpcUrls, environment: HttpEnvironment): (chainId: number) => ChainReader {
  return readersOf(rpcUrls, (chain, urls) =>
    witnessedReader(
      chain,
      groupByHost(urls).map((ofHost) => createRpc(ofHost, environment, { chainId: chain.id })),
    ),
  )
}

/** The reader of a chain that asks two of these hosts, or the only one. */
export function witnessedReader(chain: EvmChain, hosts: readonly Rpc[]): ChainReader {
  const [only, ...others] = hosts
  return only && others.length === 0
    ? chainReader(chain, only)
    : chainReader(chain, witnessedRpc(chain, hosts), { nodes: 2 })
}

/**
 * An Rpc that asks two of these hosts at the same time and gives what both say; what one of them refuses is refused. Each
 * answers at its latest block. Where that makes a difference both are asked once more, at the older of their blocks. A
 * host that is silent, behind, or refuses a call, is replaced by the next one; one that contradicts is not. Throws
 * `nodes_disagree`, `second_node_silent` where one host alone can be asked, and `upstream_*` where none can.
 */
function witnessedRpc(chain: EvmChain, hosts: readonly Rpc[]): Rpc {
  const longestLag = BigInt(Math.ceil(Math.max(LAG_BLOCKS * chain.blockSeconds, SHORTEST_LAG_SECONDS)))
  const longestLagBlocks = BigInt(Math.ceil(Number(longestLag) / chain.blockSeconds))
  const apart = blocksApart(chain)
  // One that was silent, behind, or refused, is asked after the others.
  let order = hosts
  const putLast = (last: Rpc) => {
    order = [...order.filter((host) => host !== last), last]
  }

  async function askTwo(requests: readonly RpcRequest[], options: RpcOptions | undefined): Promise<Pair> {
    const waiting = [...order]
    const failures = new Map<Rpc, AppError>()
    const askNext = async (): Promise<Answer | undefined> => {
      let refused: Answer | undefined
      for (let host = waiting.shift(); host; host = waiting.shift()) {
        const result = await toResult(ask(host, requests, options))
        if ('value' in result && !isRefused(result.value)) return result.value
        if ('value' in result) refused ??= result.value
        else failures.set(host, result.error)
        putLast(host)
      }
      return refused
    }
    let [first, second] = await Promise.all([askNext(), askNext()])
    while (first && second) {
      const late = lateOf([first, second], longestLag)
      if (!late) {
        // About what is too old for one of them, that one is silent.
        if (isTooOld(first) === isTooOld(second)) return [first, second]
        failures.set((isTooOld(first) ? first : second).host, badAnswer('too old for a second node'))
        break
      }
      putLast(late.host)
      failures.set(late.host, badAnswer('a node that is behind'))
      first = late === first ? second : first
      second = await askNext()
    }
    const [failure] = failures.values()
    if (!first && !second && failure) throw failure
    throw silence(failures)
  }

  return async (requests, options) => {
    if (requests.length === 0) return []
    const latest = await askTwo(requests, options)
    const atLatest = compare(requests, latest, apart, options)
    if ('outcomes' in atLatest && areHeadsOfOneChain(requests, latest, longestLagBlocks)) return atLatest.outcomes

    const blocks = oldestBlocks(requests, latest)
    // What is the same at every block is not asked for again.
    if ('contradiction' in atLatest && blocks.size === 0) throw disagreement(atLatest.contradiction, latest)
    const pinned = await toResult(askAt(requests, latest, { blocks, before: 0n }, options))
    if ('error' in pinned && pinned.error.code === 'nodes_disagree') throw pinned.error
    // Behind one URL there can be nodes of which some do not know that block yet.
    const isLost = (outcome: RpcOutcome, index: number) =>
      'error' in outcome && latest.every(({ outcomes }) => tells(requests[index], outcomes[index]))
    if ('value' in pinned && !pinned.value.some(isLost)) return pinned.value
    return askAt(requests, latest, { blocks, before: apart }, options)
  }

  /** What both hosts tell at the blocks that stand for tags, or so many blocks before each. */
  async function askAt(
    requests: readonly RpcRequest[],
    hosts: Pair,
    { blocks, before }: { readonly blocks: TaggedBlocks; readonly before: bigint },
    options: RpcOptions | undefined,
  ): Promise<RpcOutcome[]> {
    const at = new Map([...blocks].map(([tag, block]) => [tag, { ...block, number: max(0n, block.number - before) }]))
    const pinned = requests.map((request) => pin(request, at))
    const failures = new Map<Rpc, AppError>()
    const askPinned = async ({ host }: Answer) => {
      const result = await toResult(ask(host, pinned, options))
      if ('value' in result) return result.value
      failures.set(host, result.error)
      return undefined
    }
    const [first, second] = await Promise.all([askPinned(hosts[0]), askPinned(hosts[1])])
    // One that told another time of its block is behind, and may now say that it does not know it.
    const latest = blocks.get('latest')
    const states = [first, second].flatMap((answer) => answer?.states ?? [])
    const told = states.find((state) => state !== undefined && state.number === latest?.number)
    if (latest && told && latest.timestamp !== told.timestamp) {
      const hashes = [latest, told].map(({ timestamp }) => digest(String(timestamp)))
      throw disagreement({ method: BLOCK, hashes }, hosts)
    }
    if (!first || !second) throw silence(failures)
    const agreement = compare(pinned, [first, second], apart, options)
    if ('contradiction' in agreement) throw disagreement(agreement.contradiction, hosts)
    return agreement.outcomes
  }

  /** The places of hosts among those of the chain, for logs: their URLs are secrets. */
  function placesOf(some: Iterable<Rpc>): number[] {
    return [...some].map((host) => hosts.indexOf(host)).toSorted((left, right) => left - right)
  }

  function disagreement(contradiction: Contradiction, answers: Pair): AppError {
    const places = placesOf(answers.map(({ host }) => host))
    logger.warn('nodes disagree', { chainId: chain.id, hosts: places, ...contradiction })
    return new AppError('nodes_disagree', { cause: new Error(contradiction.method) })
  }

  function silence(failures: ReadonlyMap<Rpc, AppError>): AppError {
    const [cause] = failures.values()
    const hosts = placesOf(failures.keys())
    logger.warn('second node silent', { chainId: chain.id, hosts, code: cause?.code, reason: String(cause?.cause) })
    return new AppError('second_node_silent', { cause })
  }
}

/**
 * Whether the heads are of one chain, where one is asked for: the same block, or one after the other. Of heads further apart, up
 * to `most` blocks, the older one's hash is its host's word: to ask the other host for it would take a round trip more.
 */
function areHeadsOfOneChain(requests: readonly RpcRequest[], answers: Pair, most: bigint): boolean {
  const [older, newer] = byHead(answers)
  if (!older.head || !newer.head || !requests.some((request) => taggedBlock(request) === 'latest')) return true
  if (newer.head.number === older.head.number + 1n) return newer.head.parentHash === older.head.hash
  if (newer.head.number > older.head.number) return newer.head.number <= older.head.number + most
  return textOfHeader(newer.head) === textOfHeader(older.head)
}

/** The one of both that is behind the newest block that they know by more than so many seconds, and further than the other. */
function lateOf(answers: Pair, longest: bigint): Answer | undefined {
  const blocks = answers.flatMap(blocksOf)
  const newest = newestOf(blocks)
  const lags = answers.map((answer) => largest(blocksOf(answer).map(({ timestamp }) => newest - timestamp)))
  const [ofFirst = 0n, ofSecond = 0n] = lags
  if (ofFirst <= longest && ofSecond <= longest) return undefined
  return ofFirst > ofSecond ? answers[0] : answers[1]
}

/** The blocks that a host says are its latest. */
function blocksOf({ head, told }: Answer): readonly BlockHeader[] {
  return [...(head ? [head] : []), ...told]
}

function tells(request: RpcRequest | undefined, outcome: RpcOutcome | undefined): boolean {
  return request !== undefined && outcome !== undefined && textOf(request, outcome) !== undefined
}

/** What one host answered, with its latest block and the blocks whose state the requests are about by number. */
type Answer = {
  readonly host: Rpc
  readonly outcomes: readonly RpcOutcome[]
  /** Undefined where all that is asked is the same at whichever block a host stands. */
  readonly head: HashedHeader | undefined
  /** Undefined for a block that the host does not know. */
  readonly states: readonly (HashedHeader | undefined)[]
  /** The blocks that aggregates at the latest block say they are of. */
  readonly told: readonly BlockHeader[]
}
type Pair = readonly [Answer, Answer]

/** The blocks that stand for tags, in a form in which both hosts know them. */
type TaggedBlocks = ReadonlyMap<unknown, BlockHeader>

const UNKNOWN_BLOCK: RpcOutcome = { error: { code: -32_001 } }

async function ask(host: Rpc, requests: readonly RpcRequest[], options: RpcOptions | undefined): Promise<Answer> {
  const numbers = [...new Set(requests.map(stateBlock).filter((block) => isHex(block)))]
  const own = requests.findIndex((request) => taggedBlock(request) === 'latest')
  const needsHead = own < 0 && requests.some(dependsOnHead)
  const headers = numbers.map((number) => blockRequest(BigInt(number)))
  const outcomes = await host([...requests, ...headers, ...(needsHead ? [blockRequest('latest')] : [])], options)
  const latest = needsHead ? outcomes.at(-1) : outcomes[own]
  const head = latest && parseResult(HashedHeader, latest)
  const states = headers.map(
    (_, index) => parseResult(HashedHeader.nullable(), outcomes[requests.length + index]) ?? undefined,
  )
  const unknown: readonly unknown[] = numbers.filter((_, index) => !states[index])
  const told = requests.flatMap((request, index) =>
    stateBlock(request) === 'latest' ? (splitAggregate(request, outcomes[index])?.block ?? []) : [],
  )
  const answers = outcomes
    .slice(0, requests.length)
    .map((outcome, index) =>
      unknown.includes(requests[index] && stateBlock(requests[index])) ? UNKNOWN_BLOCK : outcome,
    )
  return { host, outcomes: answers, head, states, told }
}

/** Whether a host does not serve some of what it was asked for. */
function isRefused(answer: Answer): boolean {
  return (
    isTooOld(answer) || answer.outcomes.some((outcome) => ['unsupported', 'unserved'].includes(`${refusalIn(outcome)}`))
  )
}

function isTooOld({ outcomes }: Answer): boolean {
  return outcomes.some((outcome) => refusalIn(outcome) === 'archive')
}

function refusalIn(outcome: RpcOutcome) {
  return 'error' in outcome ? outcome.error.refusal : undefined
}

/** The tag that a call for a header names, undefined for one with a number and for other calls. */
function taggedBlock({ method, params }: RpcRequest): unknown {
  return method === BLOCK && TAGS.includes(params[0]) ? params[0] : undefined
}

/** Whether hosts answer a call by how far each is. */
function dependsOnHead(request: RpcRequest): boolean {
  const { method } = request
  return stateBlock(request) !== undefined || taggedBlock(request) !== undefined || method === RECEIPT
}

const BLOCK = 'eth_getBlockByNumber'
const RECEIPT = 'eth_getTransactionReceipt'
const SIMULATION = 'eth_simulateV1'
/** The methods that tell events, beside which some nodes tell the times of blocks. */
const EVENT_METHODS = ['eth_getLogs', 'eth_getBlockReceipts', RECEIPT]
const TIME = 'blockTimestamp'

/** The block whose state a call reads, as the call has it; undefined for calls that read none. */
function stateBlock({ method, params }: RpcRequest): unknown {
  const index = STATE_METHODS[method]
  return index === undefined ? undefined : params[index]
}

/** The older of both hosts' blocks for each tag that the calls name. */
function oldestBlocks(requests: readonly RpcRequest[], answers: Pair): TaggedBlocks {
  const blocks = new Map<unknown, BlockHeader>()
  const latest = answers.flatMap(blocksOf)
  if (latest.length > 0) blocks.set('latest', latest.reduce(lower))
  for (const [index, request] of requests.entries()) {
    const tag = taggedBlock(request)
    if (tag === undefined || tag === 'latest') continue
    const headers: BlockHeader[] = answers.flatMap(({ outcomes }) => headerIn(outcomes[index]) ?? [])
    if (headers.length > 0) blocks.set(tag, headers.reduce(lower))
  }
  return blocks
}

function headerIn(outcome: RpcOutcome | undefined): HashedHeader | undefined {
  return HashedHeader.safeParse(outcome && 'result' in outcome ? outcome.result : undefined).data
}

function textOfHeader({ number, timestamp, hash, parentHash }: HashedHeader): string {
  return [number, timestamp, hash, parentHash].join().toLowerCase()
}

/** The same call at these blocks, where it names a tag. */
function pin({ method, params }: RpcRequest, blocks: TaggedBlocks): RpcRequest {
  const tag = params.find((param) => blocks.has(param))
  const block = blocks.get(tag)
  if (!block) return { method, params }
  const pinned = params.map((param) => (param === tag ? numberToHex(block.number) : param))
  if (method !== 'eth_simulateV1') return { method, params: pinned }
  // Clients differ in the time that they give to the block that they make up.
  const time = numberToHex(block.timestamp + 1n)
  const { blockStateCalls, ...rest } = SimulationParameters.parse(params[0])
  const withTime = blockStateCalls.map((one) => ({ ...one, blockOverrides: { time } }))
  return { method, params: [{ ...rest, blockStateCalls: withTime }, ...pinned.slice(1)] }
}

const SimulationParameters = z.looseObject({ blockStateCalls: z.array(z.looseObject({})) })

/** In what two hosts contradict each other, without what they said. */
type Contradiction = { readonly method: string; readonly hashes?: readonly string[]; readonly lagSeconds?: number }

type Agreement = { readonly outcomes: RpcOutcome[] } | { readonly contradiction: Contradiction }

/** The outcomes that both hosts tell, as the one tells them whose block is older, or in what they contradict each other. */
function compare(
  requests: readonly RpcRequest[],
  [first, second]: Pair,
  apart: bigint,
  { isOfPast }: RpcOptions = {},
): Agreement {
  const lagSeconds = isOfPast ? 0n : lagOf([first, second])
  if (lagSeconds > OLDEST_STATE_SECONDS) return { contradiction: { method: BLOCK, lagSeconds: Number(lagSeconds) } }
  for (const [index, own] of first.states.entries()) {
    const other = second.states[index]
    if (own && other && own.hash !== other.hash) {
      return { contradiction: { method: BLOCK, hashes: [own, other].map(({ hash }) => digest(hash)) } }
    }
  }

  const [older, newer] = byHead([first, second])
  // No block is younger than one after it.
  if (older.head && newer.head && older.head.timestamp > newer.head.timestamp) {
    return {
      contradiction: { method: BLOCK, hashes: [older.head, newer.head].map((head) => digest(textOfHeader(head))) },
    }
  }
  const outcomes: RpcOutcome[] = []
  for (const [index, request] of requests.entries()) {
    const pair = [older.outcomes[index], newer.outcomes[index]] as const
    const agreed = agree(request, pair, [older.head, newer.head], apart)
    if (!agreed) {
      const texts = pair.map((outcome) => outcome && textOf(request, outcome))
      const isTime = texts[0] === texts[1]
      const hashes = pair.map((outcome, index) => digest(isTime ? outcome && timesIn(outcome).join() : texts[index]))
      return { contradiction: { method: request.method, hashes } }
    }
    outcomes.push(agreed)
  }
  return { outcomes }
}

/** The two in the order of their latest blocks. */
function byHead([first, second]: Pair): Pair {
  const isFirstOlder = !first.head || !second.head || first.head.number <= second.head.number
  return isFirstOlder ? [first, second] : [second, first]
}

function newestOf(blocks: readonly BlockHeader[]): bigint {
  return largest(blocks.map(({ timestamp }) => timestamp))
}

/** The largest of these seconds; 0 of none. */
function largest(seconds: readonly bigint[]): bigint {
  return seconds.reduce(max, 0n)
}

/** How much older the oldest block that was named is than the newest that either of them knows, in seconds. */
function lagOf(answers: Pair): bigint {
  const newest = newestOf(answers.flatMap(blocksOf))
  const read = answers.flatMap(({ states }) => states.filter((state) => state !== undefined))
  return largest(read.map(({ timestamp }) => newest - timestamp))
}

/** The outcome of a call that both tell; an error where one of them does not tell it, undefined where they differ. */
function agree(
  request: RpcRequest,
  [older, newer]: readonly [RpcOutcome | undefined, RpcOutcome | undefined],
  heads: readonly (HashedHeader | undefined)[],
  apart: bigint,
): RpcOutcome | undefined {
  const [ofOlder, ofNewer] = [older, newer].map((outcome) => outcome && textOf(request, outcome))
  const tag = taggedBlock(request)
  // A tag that one of them does not know is looked at as the other one has it: it only ever makes less final.
  if (tag !== undefined && tag !== 'latest' && ofOlder !== ofNewer) return undefined
  for (const [outcome, text] of [[older, ofOlder] as const, [newer, ofNewer] as const]) {
    if (!outcome || text === undefined) {
      // A dry run that reverts needs no second host: it only keeps a transaction back.
      const veto = [older, newer].find((one) => one && request.method === SIMULATION && reverts(one))
      if (veto) return veto
      return outcome && 'error' in outcome ? outcome : { error: { code: -32_603, refusal: 'unsupported' } }
    }
  }
  if (!older || !newer) return undefined
  if (request.method === SIMULATION) {
    const [first, second] = [parseSimulated(older), parseSimulated(newer)]
    // Some nodes leave out the logs.
    const areEqual = ofOlder === ofNewer || (first?.hasLogs !== second?.hasLogs && first?.results === second?.results)
    if (!areEqual) return undefined
    return first?.hasLogs ? withLargerGas(newer, older) : withLargerGas(older, newer)
  }
  if (ofOlder === ofNewer) return EVENT_METHODS.includes(request.method) ? withCommonTimes(older, newer) : older
  switch (request.method) {
    case RECEIPT:
      // One that is behind has not seen it yet.
      if (isNull(older)) return isNear(newer, heads[0], apart) ? older : undefined
      return isNull(newer) && isNear(older, heads[1], apart) ? newer : undefined
    case 'eth_getTransactionByHash':
      // One that waits to be mined need not have come to every node.
      return [older, newer].find(isNull)
    default:
      return undefined
  }
}

function isNull(outcome: RpcOutcome): boolean {
  return 'result' in outcome && outcome.result === null
}

/** Whether a receipt is of a block that a node at this head need not know yet. */
function isNear(receipt: RpcOutcome, head: HashedHeader | undefined, apart: bigint): boolean {
  return head !== undefined && parseResult(Receipt, receipt).blockNumber > head.number - apart
}

/**
 * The outcome of which both tell the same events, with the times of their blocks where both tell each; undefined where
 * they contradict each other in one, which is no part of its text, for some nodes tell all, some or none.
 */
function withCommonTimes(older: RpcOutcome, newer: RpcOutcome): RpcOutcome | undefined {
  const others = timesIn(newer)
  const pairs = timesIn(older).map((time, index) => [time, others[index]] as const)
  if (pairs.some(([time, other]) => time !== undefined && other !== undefined && time !== other)) return undefined
  return pairs.some((pair) => pair.includes(undefined)) ? { result: withoutTimes(older) } : older
}

/** The time of the block of each event in an outcome, undefined where it is not told. */
function timesIn(outcome: RpcOutcome): (bigint | undefined)[] {
  const { data = [] } = TimedEvents.safeParse('result' in outcome ? outcome.result : undefined)
  return data.map((event) => event[TIME])
}

function withoutTimes(outcome: RpcOutcome): unknown {
  const told = 'result' in outcome ? outcome.result : undefined
  return JSON.parse(JSON.stringify(told, (key, value: unknown) => (key === TIME ? undefined : value)))
}

/** What of an outcome decides, as text; undefined where it tells nothing of use. */
function textOf(request: RpcRequest, outcome: RpcOutcome): string | undefined {
  if ('error' in outcome) return undefined
  const { result } = outcome
  switch (request.method) {
    case 'eth_call':
      return isHex(result) ? (splitAggregate(request, outcome)?.values ?? result).toLowerCase() : undefined
    case SIMULATION: {
      const simulated = parseSimulated(outcome)
      return simulated && `${simulated.results} ${simulated.logs}`
    }
    case 'eth_getStorageAt':
    case 'eth_getTransactionCount':
    case 'eth_getBalance':
      // Some nodes leave out the zeros.
      return isHex(result) && result !== '0x' ? BigInt(result).toString() : undefined
    case 'eth_getLogs':
      return textIn(Logs, result)
    case 'eth_getBlockReceipts':
      return textIn(BlockReceipts, result)
    case RECEIPT:
      return textIn(MinedReceipt, result)
    case 'eth_getTransactionByHash':
      return textIn(SentTransaction, result)
    case BLOCK:
      return request.params[0] === 'latest' ? '' : textIn(HashedHeader, result)
    default:
      return JSON.stringify(result)
  }
}

const Logs = z.array(Log.omit({ [TIME]: true }))
const MinedReceipt = Receipt.extend({ logs: Logs }).nullable()
const BlockReceipts = z.array(z.object({ logs: Logs }))
const TimedLogs = z.array(Log.pick({ [TIME]: true }))
/** The events of a call for them, of a receipt, or of all receipts of a block. */
const TimedEvents = z.union([
  z.array(z.object({ logs: TimedLogs })).transform((receipts) => receipts.flatMap(({ logs }) => logs)),
  z.object({ logs: TimedLogs }).transform(({ logs }) => logs),
  TimedLogs,
])
const SentTransaction = z
  .object({ hash: TransactionHash, from: Address, to: Address.nullish(), nonce: Quantity })
  .nullable()

function textIn(schema: z.ZodType, value: unknown): string | undefined {
  const { success, data } = schema.safeParse(value)
  return success ? JSON.stringify(data, asText).toLowerCase() : undefined
}

function asText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

/** Whether each simulated transaction works, and what it returns and emits then. */
function parseSimulated(outcome: RpcOutcome) {
  const { data } = SimulatedBlocks.safeParse('result' in outcome ? outcome.result : undefined)
  if (!data) return undefined
  const works = data[0].calls.map((call) => (call.status === 1n ? call : undefined))
  return {
    results: JSON.stringify(works.map((call) => call?.returnData.toLowerCase() ?? null)),
    logs: JSON.stringify(works.map((call) => call?.logs ?? null)).toLowerCase(),
    hasLogs: works.every((call) => !call || call.logs !== undefined),
  }
}

/** True if a simulated transaction reverts. */
function reverts(outcome: RpcOutcome): boolean {
  const { data } = SimulatedBlocks.safeParse('result' in outcome ? outcome.result : undefined)
  return data?.[0].calls.some(({ status }) => status !== 1n) ?? false
}

/** Hosts whose gas differs by more than this factor disagree. */
const MAX_GAS_FACTOR = 2n

/**
 * The chosen dry run, each transaction that works with the larger gas that the hosts report; undefined where these are far apart.
 * One that fails may burn all the gas that its host allows.
 */
function withLargerGas(chosen: RpcOutcome, other: RpcOutcome): RpcOutcome | undefined {
  const [own, others] = [chosen, other].map(
    (outcome) => RawSimulation.safeParse('result' in outcome ? outcome.result : undefined).data?.[0],
  )
  if (!own || !others) return undefined
  const calls = own.calls.map((call, index) => {
    if (BigInt(call.status) !== 1n) return call
    const gas = [call, others.calls[index]].map((one) => Quantity.parse(one?.gasUsed))
    const [least = 0n, most = 0n] = gas.toSorted((left, right) => (left < right ? -1 : 1))
    return most > least * MAX_GAS_FACTOR ? undefined : { ...call, gasUsed: numberToHex(most) }
  })
  return calls.includes(undefined) ? undefined : { result: [{ ...own, calls }] }
}

const RawSimulation = z.tuple([z.looseObject({ calls: z.array(z.looseObject({ gasUsed: HexText, status: HexText })) })])

/**
 * What an aggregate at the latest block says of its block, and what it says besides, as text; undefined for other calls,
 * of which everything decides.
 */
function splitAggregate({ method, params }: RpcRequest, outcome: RpcOutcome | undefined) {
  const call = Aggregate.safeParse(params[0]).data
  if (method !== 'eth_call' || params[1] !== 'latest' || !call || !outcome || 'error' in outcome) return undefined
  const targets = decodeTargets(call.data, MOST_BLOCK_CALLS)
  const others = targets.findIndex((target) => !BLOCK_TELLERS.includes(target))
  const count = others === -1 ? targets.length : others
  if (count === 0 || !isHex(outcome.result)) return undefined
  const returned = decodeAggregate(outcome.result)
  const [timestamp, ...numbers] = returned.splice(0, count)
  const number = numbers.findLast((value) => value !== undefined && value !== '0x')
  if (!timestamp || !number) return undefined
  return {
    block: { number: hexToBigInt(number), timestamp: hexToBigInt(timestamp) },
    values: returned.map((value) => value ?? '-').join(),
  }
}

const Aggregate = z.object({
  to: z.string().refine((to) => to.toLowerCase() === BLOCK_TELLERS[0]),
  data: HexText,
})

/** What stands for a value in logs. */
function digest(text: string | undefined): string {
  return sha256(text ?? '').slice(0, 16)
}
