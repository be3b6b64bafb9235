import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ErrorCode } from '../../lib/core/errors.ts'
import { type HttpResponse, type RequestParts, sendHttpRequest } from '../../sandbox/exchange.ts'
import { listen } from '../../sandbox/listen.ts'

/**
 * The behaviour of a proxy in front of a server: `pass` forwards unchanged, and every other value is a way in which
 * servers fail.
 */
export type ProxyBehaviour =
  | 'pass'
  | 'refuse connections'
  | 'never answer'
  | 'answer 429'
  | 'answer 500'
  | 'answer HTML'
  | 'answer nonsense'
  | 'answer an empty batch'
  | 'rate-limit inside the batch'
  | 'answer after 2 s'
  | 'cut the connection'
  | 'truncate the JSON'
  | 'answer other calls'
  | 'answer results of the wrong type'
  | 'answer nonsense hex'
  | 'refuse every call'

/** Failing behaviours of a blockchain node, each with the error code that the service returns if no other node responds. */
export const CHAIN_FAILURES: readonly (readonly [ProxyBehaviour, ErrorCode])[] = [
  ['refuse connections', 'upstream_unavailable'],
  ['cut the connection', 'upstream_unavailable'],
  ['answer 429', 'upstream_unavailable'],
  ['answer 500', 'upstream_unavailable'],
  ['rate-limit inside the batch', 'upstream_unavailable'],
  ['never answer', 'upstream_timeout'],
  ['answer HTML', 'upstream_bad_answer'],
  ['answer nonsense', 'upstream_bad_answer'],
  ['answer an empty batch', 'upstream_bad_answer'],
  ['truncate the JSON', 'upstream_bad_answer'],
  ['answer other calls', 'upstream_bad_answer'],
  ['answer results of the wrong type', 'upstream_bad_answer'],
  ['answer nonsense hex', 'upstream_bad_answer'],
  ['refuse every call', 'upstream_bad_answer'],
]

/**
 * One failing behaviour of a node for each error code. The tests of node requests cover all other failing behaviours.
 */
export const FAILURE_OF_EACH_CODE = CHAIN_FAILURES.filter(([behaviour]) =>
  ['refuse connections', 'never answer', 'answer results of the wrong type'].includes(behaviour),
)

/** Proxy in front of an HTTP server. It records the body of every request. */
export type RecordingProxy = {
  readonly url: string
  /** Bodies of all requests since the last `reset`. The `eth_chainId` call that each container makes once is removed. */
  readonly bodies: string[]
  behaviour: ProxyBehaviour
  /** Promise for which every request waits before the proxy forwards it. */
  hold: Promise<unknown> | undefined
  rewrite: ((answer: string, request: string) => string) | undefined
  rewriteRequest: ((request: string) => string) | undefined
  reset(): void
  stop(): Promise<void>
}

const CANNED: Partial<Record<ProxyBehaviour, { status: number; type: string; body: string }>> = {
  'answer 429': { status: 429, type: 'text/plain', body: 'Too Many Requests' },
  'answer 500': { status: 500, type: 'text/plain', body: 'Internal Server Error' },
  'answer HTML': { status: 200, type: 'text/html', body: '<html><body>Welcome</body></html>' },
  'answer nonsense': { status: 200, type: 'application/json', body: '{"jsonrpc":"2.0","result":"0xnonsense"}' },
  'answer an empty batch': { status: 200, type: 'application/json', body: '[]' },
}

type Result = { readonly jsonrpc: '2.0'; readonly id: number; readonly result?: unknown }

/** Changes that a failing behaviour makes to each response of a JSON-RPC batch. */
const SPOILED: Partial<Record<ProxyBehaviour, (answer: Result, index: number) => unknown>> = {
  'answer other calls': ({ id, ...answer }) => ({ ...answer, id: id + 1000 }),
  'answer results of the wrong type': ({ id }, index) => ({
    jsonrpc: '2.0',
    id,
    result: [7, null, {}, true][index % 4],
  }),
  'answer nonsense hex': ({ id }) => ({ jsonrpc: '2.0', id, result: '0xdeadbeef' }),
  'refuse every call': ({ id }) => ({
    jsonrpc: '2.0',
    id,
    error: { code: -32000, message: 'cannot run this, see https://node.example/hunter2' },
  }),
}

/** Starts a proxy in front of a URL. The proxy forwards unchanged until a test changes its behaviour. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const ask = (request: RequestParts, path = '/') => sendHttpRequest(`${target}${path}`, request)
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const whole = await buffer(request)
    const body = Buffer.from(withoutChainCheck(whole.toString()))
    const isChecked = body.length < whole.length
    wire.bodies.push(body.toString())
    await wire.hold

    if (wire.behaviour === 'never answer') await sleep(20_000, undefined, { ref: false })
    if (wire.behaviour === 'refuse connections' || wire.behaviour === 'never answer') {
      request.socket.destroy()
      return
    }
    const canned = CANNED[wire.behaviour]
    if (canned) {
      response.writeHead(canned.status, { 'content-type': canned.type }).end(canned.body)
      return
    }
    if (wire.behaviour === 'rate-limit inside the batch') {
      const calls: { id: number }[] = JSON.parse(body.toString())
      const error = { code: -32005, message: 'daily request count exceeded, request rate limited' }
      const text = JSON.stringify(calls.map(({ id }) => ({ jsonrpc: '2.0', id, error })))
      response.end(isChecked ? await withChainCheck(text, ask) : text)
      return
    }

    const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...headers } = request.headers
    const { method = 'POST', url = '/' } = request
    const bodyOption = body.length > 0 && { body: wire.rewriteRequest?.(body.toString()) ?? body }
    const answer = await ask({ method, headers, ...bodyOption }, url)
    const text = spoil(answer.text, wire.behaviour)
    const type = answer.headers['content-type'] ?? 'application/json'
    if (wire.behaviour === 'answer after 2 s') await sleep(2_000, undefined, { ref: false })
    if (wire.behaviour === 'cut the connection') {
      response.writeHead(200, { 'content-type': type, 'content-length': text.length })
      response.write(text.slice(0, text.length / 2), () => request.socket.destroy())
      return
    }
    const rewritten = wire.rewrite?.(text, body.toString()) ?? text
    response
      .writeHead(answer.status, { 'content-type': type })
      .end(isChecked ? await withChainCheck(rewritten, ask) : rewritten)
  }
  // A failed request to the target server closes the caller's connection.
  const { url, stop } = await listen((request, response) => {
    pass(request, response).catch(() => request.socket.destroy())
  })
  const wire: RecordingProxy = {
    url,
    bodies: [],
    behaviour: 'pass',
    hold: undefined,
    rewrite: undefined,
    rewriteRequest: undefined,
    reset() {
      wire.bodies.length = 0
      wire.behaviour = 'pass'
      wire.hold = undefined
      wire.rewrite = undefined
      wire.rewriteRequest = undefined
    },
    stop,
  }
  return wire
}

function spoil(text: string, behaviour: ProxyBehaviour): string {
  if (behaviour === 'truncate the JSON') return text.slice(0, text.length / 2)
  const spoilOne = SPOILED[behaviour]
  return spoilOne ? JSON.stringify(JSON.parse(text).map(spoilOne)) : text
}

/** Returns the JSON-RPC calls of the recorded requests, one list per HTTP request. */
export function listRpcCalls({ bodies }: RecordingProxy): { method: string; params: unknown[] }[][] {
  return bodies.map((body) => [JSON.parse(body)].flat())
}

const CHAIN_CHECK = '{"jsonrpc":"2.0","id":0,"method":"eth_chainId","params":[]}'

/**
 * Removes the `eth_chainId` call that a new container puts before its first batch. So the recorded requests of new and
 * used containers are equal.
 */
function withoutChainCheck(body: string): string {
  return body.startsWith(`[${CHAIN_CHECK},`) ? renumbered(`[${body.slice(CHAIN_CHECK.length + 2)}`, -1) : body
}

/** Adds the real response to `eth_chainId` in front of the responses to a batch. */
async function withChainCheck(text: string, ask: (request: RequestParts) => Promise<HttpResponse>): Promise<string> {
  if (!text.startsWith('[')) return text
  const answer = await ask({ headers: { 'content-type': 'application/json' }, body: CHAIN_CHECK })
  return `[${answer.text}${text === '[]' ? '' : ','}${renumbered(text, 1).slice(1)}`
}

function renumbered(batch: string, by: number): string {
  try {
    return JSON.stringify(JSON.parse(batch).map((item: { id: number }) => ({ ...item, id: item.id + by })))
  } catch {
    return batch
  }
}
