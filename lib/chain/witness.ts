import { createHash } from 'node:crypto'
import { type Hex, hexToBigInt, isHex, numberToHex } from 'viem'
import * as z from 'zod'
import { Address, TransactionHash } from '../codecs.ts'
import { AppError, badAnswer } from '../errors.ts'
import type { HttpEnvironment } from '../http.ts'
import { logger } from '../logger.ts'
import { toResult } from '../result.ts'
import { HexText, Quantity } from './hex.ts'
import { type BlockHeader, blockRequest, HashedHeader, Log, lower, parseResult, Receipt } from './logs.ts'
import { ARB_SYS, decodeAggregate, decodeTargets, MULTICALL3 } from './multicall.ts'
import { createRpc } from './nodes.ts'
import { type ChainReader, chainReader } from './reader.ts'
import { groupByHost, type RpcUrls, readersOf } from './readers.ts'
import type { EvmChain } from './registry.ts'
import type { Rpc, RpcOptions, RpcOutcome, RpcRequest } from './rpc.ts'
import { SimulatedBlocks } from './simulation.ts'

/** What a node says is of now: one whose block is this much older than the other's is no witness. */
const LONGEST_LAG_SECONDS = 60n

/** An aggregate says of its block what these contracts tell, before all else. */
const BLOCK_TELLERS = [MULTICALL3, ARB_SYS].map((address) => address.toLowerCase())
const MOST_BLOCK_CALLS = 3

/** By how many blocks nodes behind one URL are apart. */
const BEHIND_OTHERS = 3n

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
    : chainReader(chain, witnessedRpc(chain.id, hosts), { nodes: 2 })
}

/**
 * An Rpc that asks two of these hosts at the same time and gives what both say; what one of them refuses is refused. Each
 * answers at its latest block. Where that makes a difference both are asked once more, at the older of their blocks. A
 * host that is silent, or refuses a call, is replaced by the next one; one that contradicts is not. Throws `nodes_disagree`,
 * `second_node_silent` where one host alone can be asked, and `upstream_*` where none can.
 */
function witnessedRpc(chainId: number, hosts: readonly Rpc[]): Rpc {
  // One that was silent, or refused, is asked after the others.
  let order = hosts
  const putLast = (last: Rpc) => {
    order = [...order.filter((host) => host !== last), last]
  }

  async function askTwo(requests: readonly RpcRequest[], options: RpcOptions | undefined): Promise<Pair> {
    const waiting = [...order]
    const failures: AppError[] = []
    const askNext = async (): Promise<Answer | undefined> => {
      let refused: Answer | undefined
      for (let host = waiting.shift(); host; host = waiting.shift()) {
        const result = await toResult(ask(host, requests, options))
        if ('value' in result && !isRefused(result.value)) return result.value
        if ('value' in result) refused ??= result.value
        else failures.push(result.error)
        putLast(host)
      }
      return refused
    }
    const answers = await Promise.all([askNext(), askNext()])
    const [first, second] = answers
    if (first && second) {
      // About what is too old for one of them, that one is silent.
      if (isTooOld(first) !== isTooOld(second)) throw silence(badAnswer('too old for a second node'))
      return [first, second]
    }
    const [failure] = failures
    if (!first && !second && failure) throw failure
    throw silence(failure)
  }

  return async (requests, options) => {
    if (requests.length === 0) return []
    const latest = await askTwo(requests, options)
    const atLatest = compare(requests, latest)
    if ('outcomes' in atLatest) return atLatest.outcomes

    const blocks = oldestBlocks(requests, latest)
    // What is the same at every block is not asked for again.
    if (blocks.size === 0) throw disagreement(atLatest.contradiction)
    const pinned = await toResult(askAt(requests, latest, blocks, options))
    if ('error' in pinned && pinned.error.code === 'nodes_disagree') throw pinned.error
    // Behind one URL there can be nodes of which some do not know that block yet.
    const isLost = (outcome: RpcOutcome, index: number) =>
      'error' in outcome && latest.every(({ outcomes }) => tells(requests[index], outcomes[index]))
    if ('value' in pinned && !pinned.value.some(isLost)) return pinned.value
    const earlier = new Map(blocks)
    for (const [tag, block] of blocks) earlier.set(tag, { ...block, number: block.number - BEHIND_OTHERS })
    return askAt(requests, latest, earlier, options)
  }

  /** What both hosts tell at the blocks that stand for tags. */
  async function askAt(
    requests: readonly RpcRequest[],
    hosts: Pair,
    blocks: TaggedBlocks,
    options: RpcOptions | undefined,
  ): Promise<RpcOutcome[]> {
    const pinned = requests.map((request) => pin(request, blocks))
    const [first, second] = await Promise.all([
      toResult(ask(hosts[0].host, pinned, options)),
      toResult(ask(hosts[1].host, pinned, options)),
    ])
    if ('error' in first) throw silence(first.error)
    if ('error' in second) throw silence(second.error)
    const agreement = compare(pinned, [first.value, second.value])
    if ('outcomes' in agreement) return agreement.outcomes
    throw disagreement(agreement.contradiction)
  }

  function disagreement(contradiction: Contradiction): AppError {
    logger.warn('nodes disagree', { chainId, ...contradiction })
    return new AppError('nodes_disagree', { cause: new Error(contradiction.method) })
  }

  function silence(cause: AppError | undefined): AppError {
    logger.warn('second node silent', { chainId, hosts: hosts.length, code: cause?.code })
    return new AppError('second_node_silent', { cause })
  }
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
  readonly states: readonly HashedHeader[]
  /** The blocks that aggregates at the latest block say they are of. */
  readonly told: readonly BlockHeader[]
}
type Pair = readonly [Answer, Answer]

/** The blocks that stand for tags, in a form in which both hosts know them. */
type TaggedBlocks = ReadonlyMap<unknown, BlockHeader>

async function ask(host: Rpc, requests: readonly RpcRequest[], options: RpcOptions | undefined): Promise<Answer> {
  const numbers = new Set(requests.map(stateBlock).filter((block) => isHex(block)))
  const own = requests.findIndex((request) => taggedBlock(request) === 'latest')
  const needsHead = own < 0 && requests.some(dependsOnHead)
  const headers = [...numbers].map((number) => blockRequest(BigInt(number)))
  const outcomes = await host([...requests, ...headers, ...(needsHead ? [blockRequest('latest')] : [])], options)
  const latest = needsHead ? outcomes.at(-1) : outcomes[own]
  const head = latest && parseResult(HashedHeader, latest)
  const states = headers.map((_, index) => parseResult(HashedHeader, outcomes[requests.length + index]))
  const told = requests.flatMap((request, index) =>
    stateBlock(request) === 'latest' ? (splitAggregate(request, outcomes[index])?.block ?? []) : [],
  )
  return { host, outcomes: outcomes.slice(0, requests.length), head, states, told }
}

/** Whether a host does not serve some of what it was asked for. */
function isRefused(answer: Answer): boolean {
  return isTooOld(answer) || answer.outcomes.some((outcome) => refusalIn(outcome) === 'unsupported')
}

function isTooOld({ outcomes }: Answer): boolean {
  return outcomes.some((outcome) => refusalIn(outcome) === 'archive')
}

function refusalIn(outcome: RpcOutcome) {
  return 'error' in outcome ? outcome.error.refusal : undefined
}

/** The tag that a call for a header names, undefined for one with a number and for other calls. */
function taggedBlock({ method, params }: RpcRequest): unknown {
  return method === 'eth_getBlockByNumber' && TAGS.includes(params[0]) ? params[0] : undefined
}

/** Whether hosts answer a call by how far each is. */
function dependsOnHead(request: RpcRequest): boolean {
  const { method } = request
  return stateBlock(request) !== undefined || taggedBlock(request) !== undefined || method === RECEIPT
}

const RECEIPT = 'eth_getTransactionReceipt'
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
  const latest = answers.flatMap(({ head, told }) => [...(head ? [head] : []), ...told])
  if (latest.length > 0) blocks.set('latest', latest.reduce(lower))
  for (const [index, request] of requests.entries()) {
    const tag = taggedBlock(request)
    if (tag === undefined || tag === 'latest') continue
    const headers: BlockHeader[] = answers.flatMap(({ outcomes }) => headerIn(outcomes[index]) ?? [])
    if (headers.length > 0) blocks.set(tag, headers.reduce(lower))
  }
  return blocks
}

function headerIn(outcome: RpcOutcome | undefined): BlockHeader | undefined {
  return HashedHeader.safeParse(outcome && 'result' in outcome ? outcome.result : undefined).data
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
function compare(requests: readonly RpcRequest[], [first, second]: Pair): Agreement {
  const method = 'eth_getBlockByNumber'
  const lagSeconds = lagOf(requests, [first, second])
  if (lagSeconds > LONGEST_LAG_SECONDS) return { contradiction: { method, lagSeconds: Number(lagSeconds) } }
  const [own, others] = [first, second].map(({ states }) => states.map(({ hash }) => hash).join())
  if (own !== others) return { contradiction: { method, hashes: [own, others].map(digest) } }

  const [older, newer] = byHead([first, second])
  // No block is younger than one after it.
  if (older.head && newer.head && older.head.timestamp > newer.head.timestamp) {
    return { contradiction: { method, hashes: [older.head, newer.head].map(({ hash }) => digest(hash)) } }
  }
  const outcomes: RpcOutcome[] = []
  for (const [index, request] of requests.entries()) {
    const pair = [older.outcomes[index], newer.outcomes[index]] as const
    const agreed = agree(request, pair, [older.head, newer.head])
    if (!agreed) {
      const hashes = pair.map((outcome) => digest(outcome && textOf(request, outcome)))
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

/** How much older the oldest block is whose state was read than the newest that either of them knows, in seconds. */
function lagOf(requests: readonly RpcRequest[], answers: Pair): bigint {
  const isOfLatest = requests.some((request) => stateBlock(request) === 'latest')
  const known = answers.flatMap(({ head, told }) => [...(head ? [head] : []), ...told])
  const read = answers.flatMap(({ head, states, told }) => [...states, ...told, ...(isOfLatest && head ? [head] : [])])
  const newest = known.reduce((most, { timestamp }) => (timestamp > most ? timestamp : most), 0n)
  return read.reduce((most, { timestamp }) => (newest - timestamp > most ? newest - timestamp : most), 0n)
}

/** The outcome of a call that both tell; an error where one of them does not tell it, undefined where they differ. */
function agree(
  request: RpcRequest,
  [older, newer]: readonly [RpcOutcome | undefined, RpcOutcome | undefined],
  heads: readonly (HashedHeader | undefined)[],
): RpcOutcome | undefined {
  const [ofOlder, ofNewer] = [older, newer].map((outcome) => outcome && textOf(request, outcome))
  const tag = taggedBlock(request)
  // A tag that one of them does not know is looked at as the other one has it: it only ever makes less final.
  if (tag !== undefined && tag !== 'latest' && ofOlder !== ofNewer) return undefined
  for (const [outcome, text] of [[older, ofOlder] as const, [newer, ofNewer] as const]) {
    if (!outcome || text === undefined) {
      return outcome && 'error' in outcome ? outcome : { error: { code: -32_603, refusal: 'unsupported' } }
    }
  }
  if (!older || !newer) return undefined
  if (ofOlder === ofNewer) return EVENT_METHODS.includes(request.method) ? withCommonTimes(older, newer) : older
  switch (request.method) {
    case 'eth_simulateV1': {
      // Some nodes leave out the logs.
      const [first, second] = [parseSimulated(older), parseSimulated(newer)]
      if (first?.hasLogs === second?.hasLogs || first?.results !== second?.results) return undefined
      return first?.hasLogs ? newer : older
    }
    case RECEIPT:
      // One that is behind has not seen it yet.
      if (isNull(older)) return isNear(newer, heads[0]) ? older : undefined
      return isNull(newer) && isNear(older, heads[1]) ? newer : undefined
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
function isNear(receipt: RpcOutcome, head: HashedHeader | undefined): boolean {
  return head !== undefined && parseResult(Receipt, receipt).blockNumber > head.number - BEHIND_OTHERS
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
    case 'eth_simulateV1': {
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
    case 'eth_getBlockByNumber':
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
  const returned = decodeReturned(outcome.result)
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

function decodeReturned(data: Hex): (Hex | undefined)[] {
  try {
    return decodeAggregate(data)
  } catch (cause) {
    throw badAnswer('not the return data of aggregate3', cause)
  }
}

/** What stands for a value in logs. */
function digest(text: string | undefined): string {
  return createHash('sha256')
    .update(text ?? '')
    .digest('hex')
    .slice(0, 16)
}
