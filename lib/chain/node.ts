import { isHex, toHex } from 'viem'
import * as z from 'zod'
import { inBatches } from '../core/batches.ts'
import { FailedTry, type HttpEnvironment, type HttpResponse, ResponseTooLarge, sendOnce } from '../core/http.ts'
import { logger } from '../core/logger.ts'
import { createLearntLimits, type LearntLimits } from './lessons.ts'
import { classifyNodeError, NodeError, type NodeErrorMeaning, parseLimit, refusalStatus } from './refusal.ts'
import { blockOf, countBlocks, featureOf, isEventsRequest, isLatestHeader, rangeOf } from './request.ts'
import type { RpcError, RpcOptions, RpcRequest } from './rpc.ts'

/** A node's result or error of one call. The refusal `busy` means that the node may serve the same call a moment later. */
export type NodeOutcome = { readonly result: unknown } | { readonly error: NodeRefusal }
type NodeRefusal = Omit<RpcError, 'refusal'> & { readonly refusal?: RpcError['refusal'] | 'busy' }

/** Client of one node URL of a chain, with the limits learnt from the node's refusals. */
export type Node = ReturnType<typeof createNode>

type SendOptions = RpcOptions & { readonly signal: AbortSignal }

/** Maximum number of calls in one HTTP request to a node. Refusals lower this limit for the node that refuses. */
const MAX_CALLS = 500
/** Maximum number of characters in one HTTP request to a node. Refusals lower this limit for the node that refuses. */
const MAX_CHARACTERS = 1_000_000
/** Number of characters above which a refused HTTP request counts as too long, rather than as having too many calls. */
const LARGE = 200_000
const SIDE_BY_SIDE = 8
/** Usual maximum block ranges of nodes, in blocks. If a refusal contains no number, the next smaller range is tried. */
const BLOCK_RANGES = [10_000, 5_000, 2_000, 1_000, 500, 100, 50, 10, 5, 2, 1]
const MAX_RETRY_AFTER_MS = 60_000
const TOO_LARGE = 413
/** Minimum milliseconds after which a node may count as slow. */
const MIN_SLOW_MS = 250
/** Weight of the last response in the moving average of the node's response times. */
const WEIGHT = 1 / 8

const Item = z.object({ id: z.number().int(), result: z.unknown().optional(), error: NodeError.nullish() })
const WholeError = z.object({ error: NodeError })
const Newest = z.object({ number: z.string() })

/**
 * Names of a node's learnt limits. Limits on the age of blocks are named after the RPC method instead, and limits on
 * optional features after the feature.
 */
const CALLS = 'calls'
const CHARACTERS = 'characters'
const BLOCKS = 'blocks'
const CHAIN = 'chain'

/**
 * Creates the client of the node at a URL. With a `chainId`, the first request also checks the node's chain. A node of
 * another chain is never used.
 */
export function createNode(url: string, { now, ...environment }: HttpEnvironment, chainId: number | undefined) {
  const lessons = createLearntLimits(now)
  let pausedUntil = 0
  let usualMs: number | undefined
  let newest = 0
  let isChecked = chainId === undefined

  function ageOf(request: RpcRequest): number | undefined {
    const block = blockOf(request)
    return block === undefined ? undefined : Math.max(0, newest - block)
  }

  function refusalOf(request: RpcRequest): NodeRefusal | undefined {
    if (!lessons.allows(featureOf(request), 1)) return { code: -32_601, refusal: 'unsupported' }
    const blocks = lessons.limitOf(BLOCKS)
    return (countBlocks(request) ?? 0) > blocks ? { code: -32_602, refusal: 'range', blocks } : undefined
  }

  function keeps(request: RpcRequest): boolean {
    return lessons.allows(ageKind(request), ageOf(request) ?? 0)
  }

  async function send(requests: readonly RpcRequest[], options: SendOptions): Promise<NodeOutcome[]> {
    if (!lessons.allows(CHAIN, 1)) throw ofAnotherChain()
    const refused = requests.map(refusalOf)
    const permitted = requests.filter((_, index) => refused[index] === undefined)
    for (const request of permitted) newest = Math.max(newest, rangeOf(request)?.[1] ?? blockOf(request) ?? 0)
    const isFirst = !isChecked && permitted.length > 0
    const begun = now()
    const outcomes = await sendCut(isFirst ? [CHAIN_ID, ...permitted] : permitted, options)
    if (permitted.length > 0) usualMs = (usualMs ?? now() - begun) * (1 - WEIGHT) + (now() - begun) * WEIGHT
    if (isFirst) checkChain(outcomes.shift())
    // The cast is right: each call that was sent has an outcome.
    return refused.map((error) => (error ? { error } : (outcomes.shift() as NodeOutcome)))
  }

  async function sendCut(requests: readonly RpcRequest[], options: SendOptions): Promise<NodeOutcome[]> {
    const outcomes: NodeOutcome[] = []
    for (const some of inBatches(cut(requests, lessons), SIDE_BY_SIDE)) {
      outcomes.push(...(await Promise.all(some.map((batch) => sendBatch(batch, options)))).flat())
    }
    return outcomes
  }

  async function sendBatch(batch: Batch, options: SendOptions): Promise<NodeOutcome[]> {
    const request = { url, body: batch.body, mostBytes: options.mostBytes }
    const answer = await sendOnce(environment, request, options.signal).catch((error: unknown) => {
      if (error instanceof ResponseTooLarge) return error
      throw error
    })
    if (answer instanceof ResponseTooLarge) return cutBatch(batch, answer, options)
    const { status, body } = answer
    const items = z.array(Item).safeParse(batch.isPlain ? [body] : body).data
    // Some nodes (geth) return one error for the whole batch.
    const isWhole = items?.length === 1 && batch.requests.length > 1 && items[0]?.error
    if (items && status < 300 && !isWhole) {
      lessons.prove(CALLS, batch.isPlain ? 0 : batch.requests.length)
      lessons.prove(CHARACTERS, batch.body.length)
      return outcomesOf(batch.requests, items)
    }
    const error = refusalIn(answer)
    if (!error) throw outage(answer, status < 300 ? 'upstream_bad_answer' : 'upstream_unavailable')
    return refusedBatch(batch, error, answer, options)
  }

  /**
   * Handles a response above the byte limit. If the response was cut among one call's events, that call is refused with
   * the number of blocks before the cut. Later calls for events are refused too, and all other calls are sent again. If
   * the cut cannot be assigned to one call, each half of the batch is sent again by itself.
   */
  async function cutBatch({ requests }: Batch, { beginning }: ResponseTooLarge, options: SendOptions) {
    const last = lastBlockIn(beginning)
    const areEvents = beginning === '' || last !== undefined
    const places = requests.flatMap((request, index) => (isInRange(last, request) ? [index] : []))
    const [place = 0] = places
    if (requests.length > 1 && places.length !== 1) return sendHalves(requests, options)
    const isRefused = (request: RpcRequest, index: number) =>
      index === place || (index > place && isEventsRequest(request))
    const again = requests.filter((request, index) => !isRefused(request, index))
    const outcomes = await sendCut(again, options)
    return requests.map((request, index): NodeOutcome => {
      // The cast is right: each call that was sent again has an outcome.
      if (!isRefused(request, index)) return outcomes.shift() as NodeOutcome
      const blocks = index === place ? blocksBefore(last, request) : undefined
      const refusal = isEventsRequest(request) && areEvents ? 'results' : 'unserved'
      return { error: { code: TOO_LARGE, refusal, ...(blocks !== undefined && { blocks }) } }
    })
  }

  async function refusedBatch(batch: Batch, error: NodeError, answer: HttpResponse, options: SendOptions) {
    const { requests, body } = batch
    const { status } = answer
    if (
      classifyNodeError(error, status, undefined) === 'batch' &&
      !batch.isPlain &&
      (requests.length > 1 || error.message)
    ) {
      const limit = parseLimit(error.message, requests.length, 'calls')
      if (requests.length === 1 || limit !== undefined) {
        lessons.learn(CALLS, requests.length === 1 ? 0 : (limit ?? 1))
        return sendCut(requests, options)
      }
      const outcomes = await sendHalves(requests, options)
      // A call that also fails in a smaller batch may have caused the refusal. No limit on the number of calls is then
      // learnt.
      const isSize = error.message || outcomes.every((outcome) => 'result' in outcome || !outcome.error.refusal)
      if (body.length > LARGE) lessons.learn(CHARACTERS, Math.floor(body.length / 2))
      else if (isSize) lessons.learn(CALLS, Math.ceil(requests.length / 2))
      return outcomes
    }

    const meanings = requests.map((request) => classifyNodeError(error, status, request))
    const isReason = meanings.map((meaning) => meaning !== 'busy' && meaning !== 'unserved')
    const reasons = requests.filter((_, index) => isReason[index])
    const [only, ...others] = requests
    if (!only || (reasons.length === 0 && !(others.length === 0 && status < 300))) {
      throw outage(answer, 'upstream_unavailable', error, meanings[0])
    }
    if (others.length === 0) return [refuse(only, error, status)]
    if (reasons.length === requests.length) {
      return meanings.includes('archive') ? sendNewerHalf(requests, error.code, options) : sendHalves(requests, options)
    }
    const innocent = requests.filter((_, index) => !isReason[index])
    const outcomes = await Promise.all([sendCut(reasons, options), sendCut(innocent, options)])
    // The cast is right: each call is in one of the two lists, `reasons` or `innocent`.
    return isReason.map((isOne) => outcomes[isOne ? 0 : 1].shift() as NodeOutcome)
  }

  async function sendHalves(requests: readonly RpcRequest[], options: SendOptions): Promise<NodeOutcome[]> {
    const half = Math.ceil(requests.length / 2)
    const halves = [requests.slice(0, half), requests.slice(half)]
    return (await Promise.all(halves.map((some) => sendCut(some, options)))).flat()
  }

  /**
   * Sends calls again after the node refused their batch because of blocks that are too old. The second half goes
   * first, because later calls usually concern newer blocks. Then come those calls of the first half whose blocks the
   * node may still have.
   */
  async function sendNewerHalf(
    requests: readonly RpcRequest[],
    code: number,
    options: SendOptions,
  ): Promise<NodeOutcome[]> {
    const half = Math.ceil(requests.length / 2)
    const newer = await sendCut(requests.slice(half), options)
    const older = requests.slice(0, half)
    const sent = await sendCut(older.filter(keeps), options)
    const forgotten = { error: { code, refusal: 'archive' as const } }
    return [...older.map((request) => (keeps(request) ? (sent.shift() ?? forgotten) : forgotten)), ...newer]
  }

  function outcomesOf(requests: readonly RpcRequest[], items: readonly z.output<typeof Item>[]): NodeOutcome[] {
    const byId = new Map(items.map((item) => [item.id, item]))
    if (byId.size < items.length) throw new FailedTry('upstream_bad_answer', 'two responses to one call')
    return requests.map((request, id) => {
      const { error, result } = byId.get(id) ?? {}
      if (error) return refuse(request, error)
      if (result === undefined) throw new FailedTry('upstream_bad_answer', 'a call has no response')
      if (result === null && isNeverNull(request)) return { error: { code: 0, refusal: 'unserved' } }
      proveAll(request)
      const header = isLatestHeader(request) ? Newest.safeParse(result).data : undefined
      newest = Math.max(newest, Number(header?.number) || 0)
      return { result }
    })
  }

  function proveAll(request: RpcRequest): void {
    lessons.prove(featureOf(request), 1)
    lessons.prove(BLOCKS, countBlocks(request) ?? 0)
    lessons.prove(ageKind(request), ageOf(request) ?? 0)
  }

  /** Converts a node's error to the outcome of one call. Records a limit if the node will refuse such calls again. */
  function refuse(request: RpcRequest, error: NodeError, status = 200): NodeOutcome {
    const { code } = error
    const meaning = classifyNodeError(error, status, request)
    switch (meaning) {
      case 'call':
        return { error: { code } }
      case 'range': {
        const width = countBlocks(request)
        const blocks = parseLimit(error.message, width ?? Number.POSITIVE_INFINITY, 'blocks') ?? smallerRange(width)
        // A node that refuses a range of one block is broken. No limit is learnt then, and another node is called.
        if (width === 1) return { error: { code, refusal: 'unserved' } }
        if (blocks !== undefined) lessons.learn(BLOCKS, blocks)
        const limit = lessons.limitOf(BLOCKS)
        return { error: { code, refusal: 'range', ...(Number.isFinite(limit) && { blocks: limit }) } }
      }
      case 'archive':
        lessons.learn(ageKind(request), Math.floor((ageOf(request) ?? 0) / 2))
        break
      case 'unsupported':
        lessons.learn(featureOf(request), 0)
    }
    return { error: { code, refusal: meaning === 'batch' ? 'unserved' : meaning } }
  }

  function checkChain(outcome: NodeOutcome | undefined): void {
    if (!outcome || !('result' in outcome) || !isHex(outcome.result)) {
      throw new FailedTry('upstream_bad_answer', 'no chain id')
    }
    isChecked = outcome.result.toLowerCase() === toHex(chainId ?? 0)
    if (isChecked) return
    lessons.learn(CHAIN, 0)
    logger.error('a node is of another chain', { expected: chainId, found: outcome.result })
    throw ofAnotherChain()
  }

  /** Builds the error for a failure of the whole node. Leaves out the node's own text, which may contain a secret URL. */
  function outage(
    { status, retryAfterSeconds }: HttpResponse,
    code: FailedTry['code'],
    error?: NodeError,
    meaning?: NodeErrorMeaning,
  ): FailedTry {
    if (retryAfterSeconds !== undefined) {
      pausedUntil = now() + Math.min(retryAfterSeconds * 1000, MAX_RETRY_AFTER_MS)
    }
    return new FailedTry(code, `HTTP status ${status}${error ? `, ${meaning} ${error.code}` : ''}`, {
      isTransient: retryAfterSeconds === undefined,
      retryAfterSeconds,
    })
  }

  return {
    /** True if no learnt limit says that the node refuses this call. */
    takes: (request: RpcRequest) => lessons.allows(CHAIN, 1) && !refusalOf(request) && keeps(request),
    /** Milliseconds until the pause that the node requested (Retry-After) ends; 0 for none. */
    pause: () => Math.max(0, pausedUntil - now()),
    /**
     * Milliseconds after which a request to the node counts as slow: twice the average time, at least 250. Infinite
     * before the first response.
     */
    slowMs: () => (usualMs === undefined ? Number.POSITIVE_INFINITY : Math.max(MIN_SLOW_MS, 2 * usualMs)),
    /** Returns the outcomes of the calls, in order. Throws FailedTry if the node as a whole does not serve. */
    send,
  }
}

function ofAnotherChain(): FailedTry {
  return new FailedTry('upstream_unavailable', 'a node of another chain', { isTransient: false })
}

const CHAIN_ID: RpcRequest = { method: 'eth_chainId', params: [] }

function ageKind({ method }: RpcRequest): string {
  return `age for ${method}`
}

/** True for `eth_` calls whose result is never null on a healthy node. */
function isNeverNull(request: RpcRequest): boolean {
  return isLatestHeader(request) || /^eth_(?!get(Block|Transaction))/.test(request.method)
}

function smallerRange(width: number | undefined): number | undefined {
  return width === undefined ? undefined : BLOCK_RANGES.find((range) => range < width)
}

type Batch = {
  readonly requests: readonly RpcRequest[]
  readonly body: string
  /** True if the body is one call without an array around it. Some nodes accept no batch. */
  readonly isPlain: boolean
}

/** Cuts calls into batches within the learnt limits. Writes each call as JSON once, with its index in the batch as `id`. */
function cut(requests: readonly RpcRequest[], lessons: LearntLimits): Batch[] {
  const calls = Math.min(MAX_CALLS, lessons.limitOf(CALLS))
  const characters = Math.min(MAX_CHARACTERS, lessons.limitOf(CHARACTERS))
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

/** Writes a call as JSON. Calldata is inserted unescaped, because escaping took a sixth of a large read's CPU time. */
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
 * Returns the error with which a node refuses a whole HTTP request. Returns undefined if the response contains no
 * error, for example because the node is down.
 */
function refusalIn({ status, body }: HttpResponse): NodeError | undefined {
  const first: unknown = Array.isArray(body) ? body[0] : body
  const error = WholeError.safeParse(first).data?.error ?? NodeError.safeParse(first).data
  const code = refusalStatus(status)
  return error ?? (code === undefined ? undefined : { code, message: '' })
}

function lastBlockIn(beginning: string): number | undefined {
  const [, block] = /^"(0x[0-9a-f]{1,12})"/.exec(beginning.slice(beginning.lastIndexOf(KEY) + KEY.length)) ?? []
  return block === undefined ? undefined : Number(block)
}
const KEY = '"blockNumber":'

function isInRange(block: number | undefined, request: RpcRequest): boolean {
  const before = blocksBefore(block, request)
  return before !== undefined && before >= 0 && before < (countBlocks(request) ?? 0)
}

function blocksBefore(block: number | undefined, request: RpcRequest): number | undefined {
  const range = rangeOf(request)
  return range && block !== undefined ? block - range[0] : undefined
}
