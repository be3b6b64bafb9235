import type { ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { numberToHex } from 'viem'
import * as z from 'zod'
import { sendHttpRequest } from './exchange.ts'
import { listen } from './listen.ts'
import type { NodeError, NodeProfile } from './node-profiles.ts'
import { callRpc } from './rpc.ts'

/** Imitation of a provider's node in front of a local chain, with the limits and errors of a real one. */
export type Node = {
  readonly url: string
  /** Applies these changes to the profile, and reverts earlier changes; `{}` reverts all. */
  changeProfile(changes: Pick<NodeProfile, 'behind' | 'lies'>): void
  stop(): Promise<void>
}

type Call = z.output<typeof Call>
type Outcome = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } }
type Reply = { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: unknown }

// Maximum bytes of a request body; every imitated node refuses a longer one.
const MAX_BODY_BYTES = 2 * 1024 * 1024
// Maximum gas of a call; every imitated node lowers a higher limit, and sets a missing one.
const MAX_GAS = 50_000_000n

const BLOCK_PARAMETER: Readonly<Record<string, number>> = {
  eth_getBlockByNumber: 0,
  eth_call: 1,
  eth_estimateGas: 1,
  eth_simulateV1: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
}
const STATE_METHODS = [
  'eth_call',
  'eth_estimateGas',
  'eth_simulateV1',
  'eth_getBalance',
  'eth_getCode',
  'eth_getStorageAt',
]
/** Number of blocks from the head back to each tag's block, as in anvil with two slots per epoch. */
const TAG_DEPTHS: Readonly<Record<string, number>> = { pending: 0, latest: 0, safe: 2, finalized: 4 }

const Call = z.object({ id: z.unknown(), method: z.string(), params: z.array(z.unknown()).default([]) })
const Filter = z.looseObject({ fromBlock: z.string().default('latest'), toBlock: z.string().default('latest') })

/** Starts an imitated node on a free port, in front of the chain at the URL `target`. */
export async function startNode(profile: NodeProfile, target: string): Promise<Node> {
  let answerTo = createReplier(profile, target)
  const server = await listen((request, response) => {
    void buffer(request)
      .then((body) => answerTo(body))
      .catch((error): Reply => ({ status: 502, body: String(error) }))
      .then((reply) => send(response, reply))
  })
  return {
    ...server,
    changeProfile(changes) {
      answerTo = createReplier({ ...profile, ...changes }, target)
    },
  }
}

function createReplier(profile: NodeProfile, target: string): (body: Buffer) => Promise<Reply> {
  const turns = new Map<readonly unknown[], number>()
  const nextOf = <T>(list: readonly T[]): T => {
    const turn = turns.get(list) ?? 0
    turns.set(list, turn + 1)
    return list[turn % list.length] as T
  }
  const isOverRate = rateLimit(profile)
  let served = 0

  function refusalOf(call: Call, head: number): NodeError | undefined {
    const { range, archive, overrides, methods, faults } = profile
    served += 1
    if (faults && served % faults.every === 0) return faults.refusal
    const refused = methods?.[call.method]
    if (refused) return nextOf(refused)
    if (overrides && call.method === 'eth_call' && call.params[2] !== undefined) return nextOf(overrides)
    if (call.method === 'eth_getLogs') {
      const { fromBlock, toBlock } = Filter.parse(call.params[0])
      const [from, to] = [blockNumber(fromBlock, head), blockNumber(toBlock, head)]
      if (range && to - from > range.most) return nextOf(range.refusals)
      if (archive && from < head - archive.blocks) return nextOf(archive.refusals)
    }
    const block = blockOf(call)
    const isOfState = STATE_METHODS.includes(call.method) && block !== undefined
    if (archive && isOfState && blockNumber(block, head) < head - archive.blocks) {
      return nextOf(archive.refusals)
    }
    return undefined
  }

  return async (body) => {
    if (profile.redirects) return { status: 307, headers: { location: target }, body: '' }
    if (body.length > MAX_BODY_BYTES) return { status: 413, body: 'request entity too large' }
    const { rate, batch, delayMs } = profile
    if (rate && isOverRate()) {
      const error = { code: 429, message: 'Too Many Requests' }
      return { status: 429, headers: { 'retry-after': `${rate.retryAfterSeconds}` }, body: { jsonrpc: '2.0', error } }
    }
    if (delayMs) await sleep(delayMs, undefined, { ref: false })

    const received: unknown = JSON.parse(body.toString())
    const isBatch = Array.isArray(received)
    const calls = z.array(Call).parse(isBatch ? received : [received])
    if (batch && isBatch && calls.length > batch.most) return refuse(nextOf(batch.refusals), calls, isBatch)

    const chainHead = await readHead(target)
    const planned = calls.map((call) => {
      const head = Math.max(0, chainHead - (profile.behind ? nextOf(profile.behind) : 0))
      return { call, head, refusal: refusalOf(call, head) }
    })
    const whole = planned.find(({ refusal }) => refusal && refusal.form !== 'item')
    if (whole?.refusal) return refuse(whole.refusal, isBatch ? calls : [whole.call], isBatch)

    const outcomes = await forward(
      target,
      planned.map(({ call, head, refusal }) => (refusal ? undefined : head < chainHead ? atHead(call, head) : call)),
    )
    const answers = planned.map(({ call, head, refusal }, index) => {
      const outcome = outcomes[index] ?? { error: { code: -32000, message: 'header not found' } }
      return {
        jsonrpc: '2.0',
        id: call.id,
        ...(refusal ? errorOf(refusal) : distortOutcome(profile, call, outcome, head)),
      }
    })
    return { status: 200, body: isBatch ? answers : answers[0] }
  }
}

/**
 * Replaces block tags in a call, such as `latest`, by the block numbers for a chain with this head block. Returns
 * undefined if the call names a block above the head.
 */
function atHead(call: Call, head: number): Call | undefined {
  if (call.method === 'eth_getLogs') {
    const filter = Filter.parse(call.params[0])
    if (blockNumber(filter.toBlock, head) > head) return undefined
    const [fromBlock, toBlock] = [filter.fromBlock, filter.toBlock].map((block) =>
      numberToHex(blockNumber(block, head)),
    )
    return { ...call, params: [{ ...filter, fromBlock, toBlock }] }
  }
  const index = BLOCK_PARAMETER[call.method]
  if (index === undefined) return call
  const block = blockNumber(blockOf(call) ?? 'latest', head)
  if (block > head) return undefined
  const params = [...call.params]
  params[index] = numberToHex(block)
  return { ...call, params }
}

function blockOf({ method, params }: Call): string | undefined {
  const index = BLOCK_PARAMETER[method]
  if (index === undefined) return undefined
  const block = params[index]
  return typeof block === 'string' ? block : 'latest'
}

function blockNumber(block: string, head: number): number {
  if (block === 'earliest') return 0
  const depth = TAG_DEPTHS[block]
  return depth === undefined ? Number(block) : Math.max(0, head - depth)
}

function isNewerThan(result: unknown, head: number): boolean {
  const { data } = z.looseObject({ blockNumber: z.string() }).safeParse(result)
  return data !== undefined && Number(data.blockNumber) > head
}

function withGasCap(call: Call): Call {
  if (call.method !== 'eth_call') return call
  const [transaction, ...rest] = call.params
  const { gas } = z.object({ gas: z.string().optional() }).parse(transaction)
  if (gas !== undefined && BigInt(gas) <= MAX_GAS) return call
  return { ...call, params: [{ ...(transaction as object), gas: numberToHex(MAX_GAS) }, ...rest] }
}

function distortOutcome(
  { chainIdOffset = 0, eventTimes, lies = false }: NodeProfile,
  call: Call,
  outcome: Outcome,
  head: number,
): Outcome {
  if ('error' in outcome) return outcome
  const { result } = outcome
  if (call.method === 'eth_blockNumber') return { result: numberToHex(lies ? head + LIE : head) }
  if (call.method === 'eth_chainId') return { result: numberToHex(Number(result) + chainIdOffset) }
  if (isNewerThan(result, head)) return { result: null }
  if (eventTimes) return { result: withTimes(result, eventTimes) }
  return { result: lies ? lieOf(call, result) : result }
}

function withTimes(result: unknown, times: readonly unknown[]): unknown {
  let events = 0
  const timeOf = () => times[events++ % times.length]
  return JSON.parse(JSON.stringify(result), (key, value) => (key === 'blockTimestamp' ? timeOf() : value))
}

const LIE = 100_000

function lieOf({ method }: Call, result: unknown): unknown {
  if (method === 'eth_getLogs') return []
  if (result === null || typeof result !== 'object') {
    return method === 'eth_call' && typeof result === 'string' ? wrongAmounts(result) : result
  }
  if (method === 'eth_getTransactionReceipt') return { ...result, status: '0x0', logs: [] }
  if (method === 'eth_getBlockByNumber' && 'number' in result) {
    return { ...result, number: numberToHex(Number(result.number) + LIE) }
  }
  return result
}

/** Doubles every 32-byte word that may be an amount: larger than a timestamp, and smaller than an address. */
function wrongAmounts(data: string): string {
  return data.replace(/^0x|.{1,64}/g, (word) => {
    const value = word.length === 64 ? BigInt(`0x${word}`) : 0n
    return value > 2n ** 33n && value < 2n ** 96n ? (value * 2n).toString(16).padStart(64, '0') : word
  })
}

function refuse(refusal: NodeError, calls: readonly Call[], isBatch: boolean): Reply {
  const { code, message, status, form } = refusal
  if (form === 'bare') return { status, body: { message, code } }
  if (form === 'items' && isBatch) {
    return { status, body: calls.map(({ id }) => ({ jsonrpc: '2.0', id, ...errorOf(refusal) })) }
  }
  return { status, body: { jsonrpc: '2.0', ...errorOf(refusal), id: isBatch ? null : calls[0]?.id } }
}

function errorOf({ code, message }: NodeError): Outcome {
  return { error: { code, message } }
}

function rateLimit({ rate }: NodeProfile): () => boolean {
  let windowEnds = 0
  let requests = 0
  return () => {
    if (!rate) return false
    if (Date.now() >= windowEnds) {
      windowEnds = Date.now() + rate.retryAfterSeconds * 1000
      requests = 0
    }
    requests += 1
    return requests > rate.requests
  }
}

async function readHead(rpcUrl: string): Promise<number> {
  const [head] = await callRpc({ rpcUrl }, [{ method: 'eth_blockNumber', params: [] }])
  return Number(head)
}

async function forward(
  target: string,
  calls: readonly (Call | undefined)[],
): Promise<readonly (Outcome | undefined)[]> {
  const body = calls.flatMap((call, id) => (call ? [{ jsonrpc: '2.0', ...withGasCap(call), id }] : []))
  if (body.length === 0) return []
  const headers = { 'content-type': 'application/json' }
  const { text } = await sendHttpRequest(target, { headers, body: JSON.stringify(body) })
  const outcomes: Outcome[] = []
  for (const { id, ...outcome } of JSON.parse(text) as (Outcome & { id: number })[]) outcomes[id] = outcome
  return outcomes
}

function send(response: ServerResponse, { status, headers, body }: Reply): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = typeof body === 'string' ? 'text/plain' : 'application/json'
  response.writeHead(status, { 'content-type': type, ...headers }).end(text)
}
