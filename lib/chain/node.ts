import { isHex, toHex } from 'viem'
import * as z from 'zod'
import { inBatches } from '../batches.ts'
import { AnswerTooLarge, FailedTry, type HttpAnswer, type HttpEnvironment, sendOnce } from '../http.ts'
import { logger } from '../logger.ts'
import { Quantity } from './hex.ts'
import { classifyError, NodeError, parseLimit } from './refusal.ts'
import type { RpcError, RpcOptions, RpcOutcome, RpcRequest } from './rpc.ts'

/** What a node made of a call; `unserved` where it cannot serve it now, `isBusy` where that is no fault of the call's. */
export type NodeOutcome = RpcOutcome | { readonly unserved: RpcError; readonly isBusy: boolean }

/** One URL of a chain, with what was learnt of it. */
export type Node = ReturnType<typeof createNode>

/** Until when a node may answer, and how much. */
type SendOptions = RpcOptions & { readonly signal: AbortSignal }

/** What nodes take in one request, until they refuse. */
const MOST_CALLS = 500
const MOST_CHARACTERS = 1_000_000
/** A refused request of more characters than this is refused for them rather than for the number of its calls. */
const LARGE = 200_000
/** How many requests a node is sent side by side. */
const SIDE_BY_SIDE = 8
/** Ranges of blocks that plans are limited to: the next smaller one is tried when a refusal tells no number. */
const BLOCK_RANGES = [10_000, 5_000, 2_000, 1_000, 500, 100, 50, 10, 5, 2, 1]
/** After this long a node is asked for what it refused before: plans and versions change. */
const REMEMBERED_MS = 600_000
const LONGEST_PAUSE_MS = 60_000
/** HTTP statuses that speak of what was asked; the other ones speak of the node. */
const TOO_LARGE = 413
const CALL_REFUSALS = [400, TOO_LARGE, 422]
/** Methods that a node may lack. One that says that it lacks another of Ethereum's is out of order for now. */
const OPTIONAL = ['eth_simulateV1', 'eth_getBlockReceipts']

const Item = z.object({ id: z.number().int(), result: z.unknown().optional(), error: NodeError.nullish() })
const WholeError = z.object({ error: NodeError })

/** What a node takes, as far as its refusals have told. */
type Limits = {
  /** Calls in one request; 0 where even one must not stand in a batch. */
  calls: number
  characters: number
  /** Blocks of events in one call; undefined while none was refused. */
  blocks: number | undefined
  /** Methods that it does not have, and `overrides`. */
  readonly unsupported: Set<string>
  readonly since: number
}

/** The node at a URL. With a `chainId` that is checked with its first calls: a node of another chain never serves. */
export function createNode(url: string, environment: HttpEnvironment, chainId: number | undefined) {
  const { now } = environment
  let learnt = noLimits(now())
  let pausedUntil = 0
  // Undefined until it is checked.
  let isOfThisChain = chainId === undefined ? true : undefined
  let checkedAt = 0

  function limits(): Limits {
    if (now() - learnt.since > REMEMBERED_MS) learnt = noLimits(now())
    return learnt
  }

  function isOfAnotherChain(): boolean {
    if (isOfThisChain === false && now() - checkedAt > REMEMBERED_MS) isOfThisChain = undefined
    return isOfThisChain === false
  }

  /** The refusal of a call that is sure beforehand. */
  function refusalOf(request: RpcRequest): RpcError | undefined {
    const { unsupported, blocks = Number.POSITIVE_INFINITY } = limits()
    if (unsupported.has(featureOf(request))) return { code: -32_601, refusal: 'unsupported' }
    return (widthOf(request) ?? 0) > blocks ? { code: -32_602, refusal: 'range', blocks } : undefined
  }

  async function send(requests: readonly RpcRequest[], options: SendOptions): Promise<NodeOutcome[]> {
    if (isOfAnotherChain()) throw ofAnotherChain()
    const refused = requests.map(refusalOf)
    const asked = requests.filter((_, index) => refused[index] === undefined)
    const isFirst = isOfThisChain === undefined && asked.length > 0
    const { outcomes } = await sendCut(isFirst ? [CHAIN_ID, ...asked] : asked, options)
    if (isFirst) checkChain(outcomes.shift())
    // Each call that was sent has an outcome.
    return refused.map((error) => (error ? { error } : (outcomes.shift() as NodeOutcome)))
  }

  /** As many requests as the node takes the calls in, a few at a time. */
  async function sendCut(requests: readonly RpcRequest[], options: SendOptions): Promise<Sent> {
    const sent: Sent[] = []
    for (const some of inBatches(cut(requests, limits()), SIDE_BY_SIDE)) {
      sent.push(...(await Promise.all(some.map((batch) => sendBatch(batch, options)))))
    }
    return joined(sent)
  }

  async function sendBatch(batch: Batch, options: SendOptions): Promise<Sent> {
    const request = { url, body: batch.body, mostBytes: options.mostBytes }
    const answer = await sendOnce(environment, request, options.signal).catch((error: unknown) => {
      if (error instanceof AnswerTooLarge) return error
      throw error
    })
    if (answer instanceof AnswerTooLarge) return cutBatch(batch, answer, options)
    const { status, body } = answer
    const items = z.array(Item).safeParse(batch.isPlain ? [body] : body).data
    // One error can stand for the whole batch, as geth puts it.
    const isWhole = items?.length === 1 && batch.requests.length > 1 && items[0]?.error
    if (items && status < 300 && !isWhole) return { outcomes: outcomesOf(batch.requests, items), hasRefusedCall: false }

    const error = refusalIn(answer)
    if (!error) throw outage(answer, status < 300 ? 'upstream_bad_answer' : 'upstream_unavailable')
    return refusedBatch(batch, error, answer, options)
  }

  /**
   * What becomes of a batch whose answer is too large. Where it ends in the events of one range of blocks, that call is refused with
   * the number of blocks before, later ranges are refused unread, and the other calls are sent again; else the halves will tell.
   */
  async function cutBatch({ requests }: Batch, { beginning }: AnswerTooLarge, options: SendOptions): Promise<Sent> {
    const last = lastBlockIn(beginning)
    const places = requests.flatMap((request, index) => (isInRange(last, request) ? [index] : []))
    const [place = 0] = places
    if (requests.length > 1 && places.length !== 1) {
      const half = Math.ceil(requests.length / 2)
      const halves = [requests.slice(0, half), requests.slice(half)]
      return joined(await Promise.all(halves.map((some) => sendCut(some, options))))
    }
    const isRefused = (request: RpcRequest, index: number) =>
      index === place || (index > place && asksForEvents(request))
    const again = requests.filter((request, index) => !isRefused(request, index))
    const { outcomes } = await sendCut(again, options)
    const all = requests.map((request, index): NodeOutcome => {
      // Each call that was sent again has an outcome.
      if (!isRefused(request, index)) return outcomes.shift() as NodeOutcome
      const blocks = index === place ? blocksBefore(last, request) : undefined
      const refusal = asksForEvents(request) ? { refusal: 'results' as const } : {}
      return { error: { code: TOO_LARGE, ...refusal, ...(blocks !== undefined && { blocks }) } }
    })
    return { outcomes: all, hasRefusedCall: true }
  }

  /** What becomes of a batch that is refused as a whole. */
  async function refusedBatch(batch: Batch, error: NodeError, answer: HttpAnswer, options: SendOptions): Promise<Sent> {
    const [only, ...others] = batch.requests
    if (!only) return joined([])
    const isBatchRefusal = classifyError(error, undefined) === 'batch'
    if (others.length === 0 && isBatchRefusal && !batch.isPlain) {
      limits().calls = 0
      return sendCut([only], options)
    }
    const { method } = (others.length > 0 ? batch.requests.find(asksForEvents) : only) ?? {}
    const meaning = isBatchRefusal ? 'batch' : classifyError(error, method)
    const isAboutTheCall = answer.status < 300 || CALL_REFUSALS.includes(answer.status)
    // A size is refused without words, and state overrides in any.
    const isOfOneCall =
      answer.status === TOO_LARGE || (CALL_REFUSALS.includes(answer.status) && batch.requests.some(hasOverrides))
    if (meaning === 'busy' || (meaning === 'unavailable' && !isOfOneCall) || (meaning === 'call' && !isAboutTheCall)) {
      throw outage(answer, 'upstream_unavailable')
    }
    if (others.length === 0) return { outcomes: [learn(only, error, answer.status)], hasRefusedCall: true }

    // Too many calls, too many bytes, or one among them that the node refuses: the halves will tell.
    const { requests, body } = batch
    const told = isBatchRefusal ? parseLimit(error.message, requests.length) : undefined
    if (told !== undefined) {
      limits().calls = Math.min(limits().calls, told)
      return sendCut(requests, options)
    }
    const half = Math.ceil(requests.length / 2)
    const halves = [requests.slice(0, half), requests.slice(half)]
    const sent = joined(await Promise.all(halves.map((some) => sendCut(some, options))))
    const taken = limits()
    // How much it answered says nothing of how much it may be asked.
    if (classifyError(error, 'eth_getLogs') === 'results') return sent
    if (body.length > LARGE) taken.characters = Math.min(taken.characters, Math.floor(body.length / 2))
    else if (isBatchRefusal || !sent.hasRefusedCall) taken.calls = Math.min(taken.calls, half)
    return sent
  }

  function outcomesOf(requests: readonly RpcRequest[], items: readonly z.output<typeof Item>[]): NodeOutcome[] {
    const byId = new Map(items.map((item) => [item.id, item]))
    return requests.map((request, id) => {
      const item = byId.get(id)
      if (!item) throw new FailedTry('upstream_bad_answer', 'a call has no answer')
      return item.error ? learn(request, item.error) : { result: item.result }
    })
  }

  /** The outcome of a call that fails with this error, of an HTTP status of its own if any; remembers what will be the same again. */
  function learn(request: RpcRequest, { code, message }: NodeError, status = 200): NodeOutcome {
    const meaning = classifyError({ code, message }, request.method)
    const lacksOverrides =
      hasOverrides(request) && ((status >= 400 && status !== TOO_LARGE) || isAboutParameters(code, message))
    switch (meaning) {
      case 'range': {
        const blocks = learnRange(request, message)
        // A node that refuses one block is out of order.
        return blocks === 0
          ? { unserved: { code }, isBusy: false }
          : { error: { code, refusal: 'range', ...(blocks && { blocks }) } }
      }
      case 'results':
      case 'archive':
        return { error: { code, refusal: meaning } }
      case 'busy':
        return { unserved: { code }, isBusy: true }
    }
    if (lacksOverrides || (meaning === 'unsupported' && mayLack(featureOf(request)))) {
      limits().unsupported.add(featureOf(request))
      return { error: { code, refusal: 'unsupported' } }
    }
    if (meaning === 'call' || status === TOO_LARGE) return { error: { code } }
    return { unserved: { code }, isBusy: false }
  }

  /**
   * The number of blocks of whose events the node is asked from now on, after it refused this call: 0 after a call for one block,
   * undefined if the refusal gives no number.
   */
  function learnRange(request: RpcRequest, message: string): number | undefined {
    const taken = limits()
    const width = widthOf(request)
    if (width === 1) return 0
    const smaller = width === undefined ? undefined : BLOCK_RANGES.find((range) => range < width)
    const blocks = parseLimit(message, width ?? Number.POSITIVE_INFINITY) ?? smaller
    if (blocks !== undefined) taken.blocks = Math.min(taken.blocks ?? blocks, blocks)
    return taken.blocks
  }

  function checkChain(outcome: NodeOutcome | undefined): void {
    if (!outcome || !('result' in outcome)) return
    if (!isHex(outcome.result)) throw new FailedTry('upstream_bad_answer', 'a chain id of another form')
    isOfThisChain = outcome.result.toLowerCase() === toHex(chainId ?? 0)
    checkedAt = now()
    if (isOfThisChain) return
    logger.error('a node is of another chain', { expected: chainId, found: outcome.result })
    throw ofAnotherChain()
  }

  function outage({ status, retryAfterSeconds }: HttpAnswer, code: FailedTry['code']): FailedTry {
    if (retryAfterSeconds !== undefined) {
      pausedUntil = now() + Math.min(retryAfterSeconds * 1000, LONGEST_PAUSE_MS)
    }
    return new FailedTry(code, `HTTP status ${status}`, {
      isTransient: retryAfterSeconds === undefined,
      retryAfterSeconds,
    })
  }

  return {
    /** Whether it may have an answer to this call: nothing that was learnt says that it refuses it. */
    takes: (request: RpcRequest) => !isOfAnotherChain() && refusalOf(request) === undefined,
    /** For how many milliseconds more it limits our rate (Retry-After); 0 for none. */
    pause: () => Math.max(0, pausedUntil - now()),
    /** The outcomes of the calls, in order. Throws FailedTry when the node as a whole does not serve. */
    send,
  }
}

function ofAnotherChain(): FailedTry {
  return new FailedTry('upstream_unavailable', 'a node of another chain', { isTransient: false })
}

const CHAIN_ID: RpcRequest = { method: 'eth_chainId', params: [] }
const OVERRIDES = 'state overrides'

function noLimits(since: number): Limits {
  return { calls: MOST_CALLS, characters: MOST_CHARACTERS, blocks: undefined, unsupported: new Set(), since }
}

/** What became of calls, and whether one of them was refused by itself with an HTTP answer of its own. */
type Sent = { readonly outcomes: NodeOutcome[]; readonly hasRefusedCall: boolean }

function joined(parts: readonly Sent[]): Sent {
  return {
    outcomes: parts.flatMap(({ outcomes }) => outcomes),
    hasRefusedCall: parts.some(({ hasRefusedCall }) => hasRefusedCall),
  }
}

type Batch = {
  readonly requests: readonly RpcRequest[]
  readonly body: string
  /** Whether it is one call that stands alone, for nodes that take no batch, not even of one. */
  readonly isPlain: boolean
}

/** The calls as JSON, numbered from 0 in each batch: each is written out once, whichever batch it falls into. */
function cut(requests: readonly RpcRequest[], { calls, characters }: Limits): Batch[] {
  const batches: { requests: RpcRequest[]; texts: string[]; length: number }[] = []
  for (const request of requests) {
    const text = toJson(request)
    let batch = batches.at(-1)
    if (!batch || batch.texts.length >= calls || batch.length + text.length > characters) {
      batch = { requests: [], texts: [], length: 0 }
      batches.push(batch)
    }
    batch.texts.push(`{"jsonrpc":"2.0","id":${batch.texts.length},${text.slice(1)}`)
    batch.requests.push(request)
    batch.length += text.length
  }
  const isPlain = calls === 0
  return batches.map(({ requests, texts }) => ({
    requests,
    body: isPlain ? texts.join() : `[${texts.join()}]`,
    isPlain,
  }))
}

/**
 * A call as JSON. Calldata has nothing to escape and is put in as it is: to have it looked through took a sixth of a
 * large read's CPU.
 */
function toJson(request: RpcRequest): string {
  const [call, ...others] = request.params
  if (request.method !== 'eth_call' || !isCallWithData(call)) return JSON.stringify(request)
  const withoutData = JSON.stringify({ ...request, params: [{ ...call, data: '' }, ...others] })
  return withoutData.replace('"data":""', () => `"data":"${call.data}"`)
}

function isCallWithData(call: unknown): call is { readonly data: string } {
  if (typeof call !== 'object' || call === null || !('data' in call) || typeof call.data !== 'string') return false
  return !call.data.includes('"') && !call.data.includes('\\')
}

/**
 * The error of a request that is refused as a whole: in one object, for each of its calls, or without its envelope.
 * Undefined where the node is down, or is none.
 */
function refusalIn({ status, body }: HttpAnswer): NodeError | undefined {
  const first: unknown = Array.isArray(body) ? body[0] : body
  const error = WholeError.safeParse(first).data?.error ?? NodeError.safeParse(first).data
  return error ?? (CALL_REFUSALS.includes(status) ? { code: status, message: '' } : undefined)
}

/** The block of the last event in the beginning of an answer. */
function lastBlockIn(beginning: string): number | undefined {
  const [, block] = /^"(0x[0-9a-f]{1,12})"/.exec(beginning.slice(beginning.lastIndexOf(KEY) + KEY.length)) ?? []
  return block === undefined ? undefined : Number(block)
}
const KEY = '"blockNumber":'

function isInRange(block: number | undefined, request: RpcRequest): boolean {
  const before = blocksBefore(block, request)
  return before !== undefined && before >= 0 && before < (widthOf(request) ?? 0)
}

/** How many blocks of a call for events are before this one. */
function blocksBefore(block: number | undefined, { method, params: [filter] }: RpcRequest): number | undefined {
  const range = method === 'eth_getLogs' ? Range.safeParse(filter).data : undefined
  return range && block !== undefined ? block - Number(range.fromBlock) : undefined
}

function mayLack(feature: string): boolean {
  return !feature.startsWith('eth_') || OPTIONAL.includes(feature)
}

/** What a node may lack that this call needs: its method, or state overrides. */
function featureOf(request: RpcRequest): string {
  return hasOverrides(request) ? OVERRIDES : request.method
}

function asksForEvents({ method }: RpcRequest): boolean {
  return method === 'eth_getLogs'
}

function hasOverrides({ method, params }: RpcRequest): boolean {
  return method === 'eth_call' && params.length > 2
}

function isAboutParameters(code: number, message: string): boolean {
  return code === -32_602 || code === -32_600 || /override|too many arguments|invalid argument/i.test(message)
}

/** How many blocks a call asks events of; undefined for other calls, and where a block has no number. */
function widthOf({ method, params: [filter] }: RpcRequest): number | undefined {
  const range = method === 'eth_getLogs' ? Range.safeParse(filter).data : undefined
  return range && Number(range.toBlock - range.fromBlock) + 1
}

const Range = z.object({ fromBlock: Quantity, toBlock: Quantity })
