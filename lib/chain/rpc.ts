import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { AppError } from '../errors.ts'

/** One JSON-RPC call. */
export type RpcRequest = { readonly method: string; readonly params: readonly unknown[] }

/** What the node said to one call: a result, or an error of that call alone (a revert, an unsupported method). */
export type RpcOutcome = { readonly result: unknown } | { readonly error: RpcError }

/** A node's error for one call. The node's own text is not kept: it may name a URL. */
type RpcError = { readonly code: number }

/**
 * Sends calls as one JSON-RPC batch, one HTTP request, and gives their outcomes in order; more than a provider takes in
 * one go as several, side by side.
 * Throws AppError `upstream_timeout`, `upstream_unavailable` or `upstream_bad_answer` when the batch as a whole failed.
 */
export type Rpc = (requests: readonly RpcRequest[]) => Promise<RpcOutcome[]>

/** What an Rpc needs of the world. */
export type RpcEnvironment = {
  readonly fetch: typeof fetch
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Milliseconds since any fixed moment. */
  readonly now: () => number
}

const DEADLINE_MS = 3_000
/** What providers take in one request. */
const MOST_CALLS = 500
const MOST_CHARACTERS = 1_000_000
const MAX_JITTER_MS = 100
/** The share of the deadline that the first try may use when there is another URL for a second one. */
const FIRST_TRY_SHARE = 0.55
const RATE_LIMIT_CODES = [429, -32005, -32016, -32029, -32090]
/** What nodes say, some of them with the code of a rate limit, of a call for events that must be asked in parts. */
const TOO_MANY_EVENTS = /\bresults\b|\brange\b|\bblocks\b|\bresponse size\b|\bmore than \d+ (logs|events)\b/i

const Answer = z.array(
  z.object({
    id: z.number().int(),
    result: z.unknown().optional(),
    error: z.object({ code: z.number(), message: z.string().default('') }).optional(),
  }),
)

/** An Rpc over these URLs of one chain: each batch has 3 s in all, and one retry, after a jittered pause, on the next URL. */
export function createRpc(urls: readonly [string, ...string[]], { fetch, random, now }: RpcEnvironment): Rpc {
  // A URL that failed is not the first choice of the next batch.
  let preferred = 0

  async function send(calls: readonly string[]): Promise<RpcOutcome[]> {
    const body = `[${calls.join()}]`
    const giveUpAt = now() + DEADLINE_MS
    const post = (index: number, milliseconds: number) =>
      postBatch(fetch, urls[index] ?? urls[0], body, calls.length, milliseconds)
    const first = preferred
    const second = (first + 1) % urls.length
    try {
      return await post(first, urls.length > 1 ? DEADLINE_MS * FIRST_TRY_SHARE : DEADLINE_MS)
    } catch (error) {
      // The next one of this batch's own, for another batch may have moved on from the same URL meanwhile.
      preferred = second
      const left = giveUpAt - now() - MAX_JITTER_MS
      if (left < MAX_JITTER_MS) throw error
      await sleep(random() * MAX_JITTER_MS)
      return await post(second, left)
    }
  }

  return async (requests) => (await Promise.all(inBatches(requests).map(send))).flat()
}

/** The calls as JSON, numbered from 0 in each batch: each is written out once, whichever batch it falls into. */
function inBatches(requests: readonly RpcRequest[]): string[][] {
  const batches: string[][] = []
  let characters = Number.POSITIVE_INFINITY
  for (const request of requests) {
    const text = JSON.stringify(request)
    let batch = batches.at(-1)
    if (!batch || batch.length === MOST_CALLS || characters + text.length > MOST_CHARACTERS) {
      batch = []
      batches.push(batch)
      characters = 0
    }
    batch.push(`{"jsonrpc":"2.0","id":${batch.length},${text.slice(1)}`)
    characters += text.length
  }
  return batches
}

async function postBatch(
  fetch: RpcEnvironment['fetch'],
  url: string,
  body: string,
  length: number,
  milliseconds: number,
): Promise<RpcOutcome[]> {
  const answer = await fetchJson(fetch, url, body, milliseconds)
  const items = Answer.safeParse(answer).data
  if (!items) throw failed('upstream_bad_answer', 'not a JSON-RPC batch')

  const byId = new Map(items.map((item) => [item.id, item]))
  return Array.from({ length }, (_, id) => {
    const item = byId.get(id)
    if (!item) throw failed('upstream_bad_answer', 'a call has no answer')
    if (!item.error) return { result: item.result }
    const { code, message } = item.error
    if (isRateLimit(code, message)) throw failed('upstream_unavailable', 'rate limited')
    return { error: { code } }
  })
}

function isRateLimit(code: number, message: string): boolean {
  if (TOO_MANY_EVENTS.test(message)) return false
  return RATE_LIMIT_CODES.includes(code) || /rate.?limit|too many requests/i.test(message)
}

async function fetchJson(
  fetch: RpcEnvironment['fetch'],
  url: string,
  body: string,
  milliseconds: number,
): Promise<unknown> {
  const signal = AbortSignal.timeout(Math.floor(milliseconds))
  try {
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal })
    if (!response.ok) throw failed('upstream_unavailable', `HTTP status ${response.status}`)
    return await response.json()
  } catch (error) {
    if (error instanceof AppError) throw error
    if (signal.aborted) throw failed('upstream_timeout', `no answer in ${Math.round(milliseconds)} ms`)
    if (error instanceof SyntaxError) throw failed('upstream_bad_answer', 'not JSON')
    throw failed('upstream_unavailable', 'no connection')
  }
}

function failed(code: 'upstream_timeout' | 'upstream_unavailable' | 'upstream_bad_answer', why: string): AppError {
  return new AppError(code, { cause: new Error(why) })
}
