import { createHash } from 'node:crypto'
import { type Hex, hexToBigInt, isHex, numberToHex } from 'viem'
import * as z from 'zod'
import { AppError, badAnswer } from '../errors.ts'
import type { HttpEnvironment } from '../http.ts'
import { logger } from '../logger.ts'
import { toResult } from '../result.ts'
import { HexText } from './hex.ts'
import { type BlockHeader, blockRequest, HashedHeader, Log, lower, parseResult } from './logs.ts'
import { ARB_SYS, decodeAggregate, decodeTargets, MULTICALL3 } from './multicall.ts'
import { createRpc } from './nodes.ts'
import { type ChainReader, chainReader } from './reader.ts'
import { groupByHost, type RpcUrls, readersOf } from './readers.ts'
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

/**
 * The readers of all chains, as `chainReaders`, of which each asks two nodes of different hosts, where so many are
 * configured, and tells what both tell: for what people sign. They throw `nodes_disagree` and `second_node_silent` besides.
 */
export function witnessedReaders(rpcUrls: RpcUrls, environment: HttpEnvironment): (chainId: number) => ChainReader {
  return readersOf(rpcUrls, (chain, urls) => {
    const hosts = groupByHost(urls).map((ofHost) => createRpc(ofHost, environment, { chainId: chain.id }))
    const [only, ...others] = hosts
    return only && others.length === 0
      ? chainReader(chain, only)
      : chainReader(chain, witnessedRpc(chain.id, hosts), { nodes: 2 })
  })
}

/**
 * An Rpc that asks two of these hosts at the same time and gives what both say; what one of them refuses is refused. Each
 * answers at its latest block. Where that makes a difference both are asked once more, at the older of their blocks. A
 * host that is silent is replaced by the next one, one that contradicts is not. Throws `nodes_disagree`,
 * `second_node_silent` where one host alone can be asked, and `upstream_*` where none can.
 */
function witnessedRpc(chainId: number, hosts: readonly Rpc[]): Rpc {
  // One that was silent is asked after the others.
  let order = hosts
  const putLast = (silent: Rpc) => {
    order = [...order.filter((host) => host !== silent), silent]
  }

  async function askTwo(requests: readonly RpcRequest[], options: RpcOptions | undefined): Promise<Pair> {
    const waiting = [...order]
    const failures: AppError[] = []
    const askNext = async (): Promise<Answer | undefined> => {
      for (let host = waiting.shift(); host; host = waiting.shift()) {
        const result = await toResult(ask(host, requests, options))
        if ('value' in result) return result.value
        putLast(host)
        failures.push(result.error)
      }
      return undefined
    }
    const answers = await Promise.all([askNext(), askNext()])
    const [first, second] = answers
    if (first && second) return [first, second]
    const [failure] = failures
    if (!first && !second && failure) throw failure
    throw silence(failure)
  }

  return async (requests, options) => {
    if (requests.length === 0) return []
    const latest = await askTwo(requests, options)
    const atLatest = compare(requests, latest)
    if ('outcomes' in atLatest) return atLatest.outcomes

    const block = latest.map(oldestBlock).reduce(lower)
    const pinned = await toResult(askAt(requests, latest, block, options))
    if ('error' in pinned && pinned.error.code === 'nodes_disagree') throw pinned.error
    // Behind one URL there can be nodes of which some do not know that block yet.
    const isLost = (outcome: RpcOutcome, index: number) =>
      'error' in outcome && latest.every(({ outcomes }) => tells(requests[index], outcomes[index]))
    if ('value' in pinned && !pinned.value.some(isLost)) return pinned.value
    return askAt(requests, latest, { ...block, number: block.number - BEHIND_OTHERS }, options)
  }

  /** What both hosts tell at a block. */
  async function askAt(
    requests: readonly RpcRequest[],
    hosts: Pair,
    block: BlockHeader,
    options: RpcOptions | undefined,
  ): Promise<RpcOutcome[]> {
    const pinned = requests.map((request) => pin(request, block))
    const [first, second] = await Promise.all([
      toResult(ask(hosts[0].host, pinned, options)),
      toResult(ask(hosts[1].host, pinned, options)),
    ])
    if ('error' in first) throw silence(first.error)
    if ('error' in second) throw silence(second.error)
    const agreement = compare(pinned, [first.value, second.value])
    if ('outcomes' in agreement) return agreement.outcomes
    const { contradiction } = agreement
    logger.warn('nodes disagree', { chainId, ...contradiction })
    throw new AppError('nodes_disagree', { cause: new Error(contradiction.method) })
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
  readonly head: HashedHeader
  readonly states: readonly HashedHeader[]
  /** The blocks that aggregates at the latest block say they are of. */
  readonly told: readonly BlockHeader[]
}
type Pair = readonly [Answer, Answer]

async function ask(host: Rpc, requests: readonly RpcRequest[], options: RpcOptions | undefined): Promise<Answer> {
  const numbers = new Set(requests.map(stateBlock).filter((block) => isHex(block)))
  const headers = [...[...numbers].map(BigInt), 'latest' as const].map(blockRequest)
  const outcomes = await host([...requests, ...headers], options)
  const blocks = outcomes.splice(requests.length).map((outcome) => parseResult(HashedHeader, outcome))
  const head = blocks.at(-1)
  if (!head) throw badAnswer('no latest block')
  const told = requests.flatMap((request, index) =>
    stateBlock(request) === 'latest' ? (splitAggregate(request, outcomes[index])?.block ?? []) : [],
  )
  return { host, outcomes, head, states: blocks.slice(0, -1), told }
}

/** The block whose state a call reads, as the call has it; undefined for calls that read none. */
function stateBlock({ method, params }: RpcRequest): unknown {
  const index = STATE_METHODS[method]
  return index === undefined ? undefined : params[index]
}

function oldestBlock({ head, told }: Answer): BlockHeader {
  return told.reduce(lower, head)
}

/** The same call at this block, where it is one at the latest. */
function pin({ method, params }: RpcRequest, { number, timestamp }: BlockHeader): RpcRequest {
  if (!params.includes('latest')) return { method, params }
  const pinned = params.map((param) => (param === 'latest' ? numberToHex(number) : param))
  if (method !== 'eth_simulateV1') return { method, params: pinned }
  // Clients differ in the time that they give to the block that they make up.
  const time = numberToHex(timestamp + 1n)
  const { blockStateCalls, ...rest } = SimulationParameters.parse(params[0])
  const blocks = blockStateCalls.map((block) => ({ ...block, blockOverrides: { time } }))
  return { method, params: [{ ...rest, blockStateCalls: blocks }, ...pinned.slice(1)] }
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

  const [older, newer] = first.head.number <= second.head.number ? [first, second] : [second, first]
  const outcomes: RpcOutcome[] = []
  for (const [index, request] of requests.entries()) {
    const pair = [older.outcomes[index], newer.outcomes[index]] as const
    const agreed = agree(request, pair)
    if (!agreed) {
      const hashes = pair.map((outcome) => digest(outcome && textOf(request, outcome)))
      return { contradiction: { method: request.method, hashes } }
    }
    outcomes.push(agreed)
  }
  return { outcomes }
}

/** How much older the oldest block is whose state was read than the newest that either of them knows, in seconds. */
function lagOf(requests: readonly RpcRequest[], answers: Pair): bigint {
  const isOfLatest = requests.some((request) => stateBlock(request) === 'latest')
  const known = answers.flatMap(({ head, told }) => [head, ...told])
  const read = answers.flatMap(({ head, states, told }) => [...states, ...told, ...(isOfLatest ? [head] : [])])
  const newest = known.reduce((most, { timestamp }) => (timestamp > most ? timestamp : most), 0n)
  return read.reduce((most, { timestamp }) => (newest - timestamp > most ? newest - timestamp : most), 0n)
}

/** The outcome of a call that both tell; an error where one of them does not tell it, undefined where they differ. */
function agree(
  request: RpcRequest,
  [older, newer]: readonly [RpcOutcome | undefined, RpcOutcome | undefined],
): RpcOutcome | undefined {
  for (const outcome of [older, newer]) {
    if (!outcome || textOf(request, outcome) === undefined) {
      return outcome && 'error' in outcome ? outcome : { error: { code: -32_603, refusal: 'unsupported' } }
    }
  }
  if (!older || !newer) return undefined
  if (textOf(request, older) === textOf(request, newer)) return older
  if (request.method !== 'eth_simulateV1') return undefined
  // Some nodes leave out the logs.
  const [ofOlder, ofNewer] = [older, newer].map((outcome) => parseSimulated(outcome))
  if (ofOlder?.hasLogs === ofNewer?.hasLogs || ofOlder?.results !== ofNewer?.results) return undefined
  return ofOlder?.hasLogs ? newer : older
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
      // Some nodes leave out the zeros.
      return isHex(result) && result !== '0x' ? BigInt(result).toString() : undefined
    case 'eth_getLogs':
      return textIn(Logs, result)
    case 'eth_getBlockByNumber':
      return request.params[0] === 'latest' ? '' : textIn(HashedHeader, result)
    default:
      return JSON.stringify(result)
  }
}

const Logs = z.array(Log.omit({ blockTimestamp: true }))

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
