import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createRpc } from '../../../lib/chain/nodes.ts'
import type { RpcRequest } from '../../../lib/chain/rpc.ts'
import { AppError } from '../../../lib/errors.ts'
import type { HttpEnvironment } from '../../../lib/http.ts'
import { startWire } from '../../support/wire.ts'

const FIRST = 'https://first.example/v2/hunter2'
const SECOND = 'https://user:hunter2@second.example/'
const CALLS: readonly RpcRequest[] = [
  { method: 'eth_chainId', params: [] },
  { method: 'eth_blockNumber', params: [] },
  { method: 'eth_call', params: [{ to: '0x1' }, 'latest'] },
]
const RESULTS = [{ result: '0x2105' }, { result: '0x5' }, { result: '0xab' }]
const resultOf = (method: string) => RESULTS[CALLS.findIndex((call) => call.method === method)]

type Batch = readonly {
  readonly jsonrpc: string
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}[]
/** What a node does with a batch: gives the HTTP answer, or throws what `fetch` throws. */
type Node = (batch: Batch, signal: AbortSignal) => Response | Promise<Response>

/** A node that answers every call, in the order in which `order` puts the answers. */
const good =
  (order: <T>(items: T[]) => T[] = (items) => items): Node =>
  (batch) =>
    Response.json(order(batch.map(({ id, method }) => ({ jsonrpc: '2.0', id, ...resultOf(method) }))))
const answering =
  (body: unknown): Node =>
  () =>
    Response.json(body)
/** A node that answers one method with an error, and the others. */
const refusing =
  (method: string, error: unknown): Node =>
  (batch) =>
    Response.json(
      batch.map((call) => ({ id: call.id, ...(call.method === method ? { error } : resultOf(call.method)) })),
    )
const status =
  (code: number): Node =>
  () =>
    new Response('no', { status: code })
const unreachable: Node = () => {
  throw new TypeError('fetch failed', { cause: new Error(`connect ECONNREFUSED ${FIRST}`) })
}

/** An Rpc over nodes by URL, with what it asked of them and of the world. */
function rpcOver(
  nodes: Readonly<Record<string, Node>>,
  { random = 0, elapse = () => 0 }: { random?: number; elapse?: () => number } = {},
) {
  const asked: string[] = []
  const batches: Batch[] = []
  let now = 1000.25
  const environment = {
    fetch: vi.fn(async (url: string, init: { body: string; signal: AbortSignal }) => {
      asked.push(url)
      const batch: Batch = JSON.parse(init.body)
      batches.push(batch)
      now += elapse()
      return await (nodes[url] as Node)(batch, init.signal)
    }),
    random: vi.fn(() => random),
    now: () => now,
  }
  const rpc = createRpc(Object.keys(nodes) as [string, ...string[]], environment as unknown as HttpEnvironment)
  return { rpc, asked, batches, environment }
}

async function failureOf(call: Promise<unknown>): Promise<AppError> {
  const thrown: unknown = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(AppError)
  return thrown as AppError
}

describe('A batch', () => {
  test('is one HTTP request of JSON-RPC 2.0 calls, each with an id of its own', async () => {
    const { rpc, batches, environment } = rpcOver({ [FIRST]: good() })
    expect(await rpc(CALLS)).toEqual(RESULTS)
    expect(batches).toEqual([CALLS.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))])
    expect(environment.fetch.mock.calls[0]?.[1]).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    })
  })

  test('gets its outcomes in its own order, whatever the order of the answers', async () => {
    const { rpc } = rpcOver({ [FIRST]: good((items) => items.toReversed()) })
    expect(await rpc(CALLS)).toEqual(RESULTS)
  })

  test('gets an error of one call as that call’s outcome, without the node’s words', async () => {
    const error = { code: 3, message: `execution reverted, see ${FIRST}`, data: '0x08c379a0' }
    const { rpc, asked } = rpcOver({
      [FIRST]: answering([
        { id: 1, error },
        { id: 0, result: '0x1' },
        { id: 2, result: null },
      ]),
    })
    expect(await rpc(CALLS)).toEqual([{ result: '0x1' }, { error: { code: 3 } }, { result: null }])
    expect(asked).toHaveLength(1)
  })

  const echo: Node = (batch) => Response.json(batch.map(({ id, params }) => ({ id, result: params[0] })))
  test.for([
    ['501 calls', Array.from({ length: 501 }, (_, i) => i), [500, 1]],
    ['calls of more than a million characters', ['a', 'b', 'c'].map((one) => one.repeat(450_000)), [2, 1]],
    ['one call of more than that', ['a'.repeat(1_200_000), 'b'], [1, 1]],
    ['no call', [], []],
  ] as const)('of %s is as many requests as providers take, side by side', async ([, params, lengths]) => {
    const { rpc, batches } = rpcOver({ [FIRST]: echo })
    const outcomes = await rpc(params.map((param) => ({ method: 'eth_call', params: [param] })))
    expect(outcomes).toEqual(params.map((result) => ({ result })))
    expect(batches.map(({ length }) => length)).toEqual(lengths)
  })

  test('ignores answers to calls that were not made', async () => {
    const { rpc } = rpcOver({
      [FIRST]: answering([...RESULTS.map((result, id) => ({ id, ...result })), { id: 99, result: 'more' }]),
    })
    expect(await rpc(CALLS)).toEqual(RESULTS)
  })
})

/** How a node can fail, and what that is called. */
const FAILURES: readonly (readonly [string, Node, AppError['code']])[] = [
  ['cannot be reached', unreachable, 'upstream_unavailable'],
  ['answers 401', status(401), 'upstream_unavailable'],
  ['answers 429', status(429), 'upstream_unavailable'],
  ['answers 500', status(500), 'upstream_unavailable'],
  ['answers 503', status(503), 'upstream_unavailable'],
  ['answers no JSON', () => new Response('<html>'), 'upstream_bad_answer'],
  ['answers nothing', () => new Response(''), 'upstream_bad_answer'],
  ['answers half of its JSON', () => new Response('[{"id":0,"resu'), 'upstream_bad_answer'],
  ['answers a single object', answering({ id: 0, result: '0x1' }), 'upstream_bad_answer'],
  ['answers null', answering(null), 'upstream_bad_answer'],
  ['answers an empty batch', answering([]), 'upstream_bad_answer'],
  [
    'leaves a call unanswered',
    answering([
      { id: 0, result: '0x1' },
      { id: 2, result: '0x1' },
    ]),
    'upstream_bad_answer',
  ],
  ['answers other calls', answering([7, 8, 9].map((id) => ({ id, result: '0x1' }))), 'upstream_bad_answer'],
  ['answers with ids of text', answering(['0', '1', '2'].map((id) => ({ id, result: '0x1' }))), 'upstream_bad_answer'],
  ['answers with errors of text', answering([0, 1, 2].map((id) => ({ id, error: 'no' }))), 'upstream_bad_answer'],
  ...[-32005, -32016, -32029, -32090, 429].map(
    (code) =>
      [
        `limits a call with ${code}`,
        refusing('eth_blockNumber', { code, message: 'x' }),
        'upstream_unavailable',
      ] as const,
  ),
  ...['Too Many Requests', 'your rate limit is reached', 'rate-limited'].map(
    (message) =>
      [
        `limits a call with "${message}"`,
        refusing('eth_call', { code: -32000, message }),
        'upstream_unavailable',
      ] as const,
  ),
]

test.for(['query returned more than 10000 results', 'block range is too wide', 'limited to 1000 blocks'])(
  'A call that asks for too much (%s) fails alone, whatever its code',
  async (message) => {
    const refused = [0, 1, 2].map((id) => (id === 1 ? { id, error: { code: -32005, message } } : { id, result: '0x1' }))
    const { rpc } = rpcOver({ [FIRST]: answering(refused) })
    const [first, , third] = CALLS as [RpcRequest, RpcRequest, RpcRequest]
    const outcomes = await rpc([first, { method: 'eth_getLogs', params: [{}] }, third])
    expect(outcomes).toMatchObject([{ result: '0x1' }, { error: { code: -32005 } }, { result: '0x1' }])
  },
)

describe('A node that', () => {
  test.for(FAILURES)('%s fails the whole batch', async ([, node, code]) => {
    const { rpc, asked } = rpcOver({ [FIRST]: node })
    expect((await failureOf(rpc(CALLS))).code).toBe(code)
    expect(asked).toEqual([FIRST, FIRST])
  })

  test.for(FAILURES)('%s is replaced by the next one, which stays the first choice', async ([, node]) => {
    const { rpc, asked } = rpcOver({ [FIRST]: node, [SECOND]: good() })
    expect(await rpc(CALLS)).toEqual(RESULTS)
    expect(asked).toEqual([FIRST, SECOND])
    expect(await rpc(CALLS)).toEqual(RESULTS)
    expect(asked).toEqual([FIRST, SECOND, SECOND])
  })

  test.for(FAILURES)('%s tells no URL, key or word of its own', async ([, node]) => {
    const { rpc } = rpcOver({ [FIRST]: node, [SECOND]: node })
    const failure = await failureOf(rpc(CALLS))
    const told = inspect(failure, { depth: null, showHidden: true }) + JSON.stringify(failure)
    expect(told).not.toMatch(/hunter2|first\.example|second\.example|https?:|execution reverted/)
    expect(failure.cause).toBeInstanceOf(Error)
  })

  test('fails for two batches at once is replaced for both', async () => {
    const { rpc, asked } = rpcOver({ [FIRST]: unreachable, [SECOND]: good() })
    expect(await Promise.all([rpc(CALLS), rpc(CALLS)])).toEqual([RESULTS, RESULTS])
    expect(asked).toEqual([FIRST, FIRST, SECOND, SECOND])
  })
})

describe('A retry', () => {
  test('is made once', async () => {
    const { rpc, asked } = rpcOver({ [FIRST]: unreachable, [SECOND]: unreachable })
    await failureOf(rpc(CALLS))
    expect(asked).toEqual([FIRST, SECOND])
  })

  test('goes to the same node where there is one only', async () => {
    let tries = 0
    const node: Node = (batch, signal) => {
      tries += 1
      return tries === 1 ? status(500)(batch, signal) : good()(batch, signal)
    }
    const { rpc, asked } = rpcOver({ [FIRST]: node })
    expect(await rpc(CALLS)).toEqual(RESULTS)
    expect(asked).toEqual([FIRST, FIRST])
  })

  test('waits a random while, and a batch that succeeds draws no lot', async () => {
    const { rpc, environment } = rpcOver({ [FIRST]: unreachable, [SECOND]: good() }, { random: 0.999 })
    await rpc(CALLS)
    expect(environment.random).toHaveBeenCalledTimes(1)
    await rpc(CALLS)
    expect(environment.random).toHaveBeenCalledTimes(1)
  })

  test.for([3000, 2900, 2800.5])('is not made when %i ms are gone of the three seconds', async (elapsed) => {
    const { rpc, asked } = rpcOver({ [FIRST]: unreachable, [SECOND]: good() }, { elapse: () => elapsed })
    expect((await failureOf(rpc(CALLS))).code).toBe('upstream_unavailable')
    expect(asked).toEqual([FIRST])
    // The next batch starts with the other node, and with three seconds of its own.
    expect(await rpc(CALLS)).toEqual(RESULTS)
    expect(asked).toEqual([FIRST, SECOND])
  })

  test('is made when there is time left', async () => {
    const { rpc, asked } = rpcOver({ [FIRST]: unreachable, [SECOND]: good() }, { elapse: () => 1650.123 })
    expect(await rpc(CALLS)).toEqual(RESULTS)
    expect(asked).toEqual([FIRST, SECOND])
  })
})

describe('The deadline of a batch', () => {
  /** A node that answers never; it ends when it is told to. */
  const silent: Node = (_, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

  /** The deadlines that are set, in milliseconds, each of which is over after a hundredth of its time. */
  function hurriedDeadlines(): number[] {
    const timeout = AbortSignal.timeout.bind(AbortSignal)
    const spy = vi.spyOn(AbortSignal, 'timeout')
    onTestFinished(() => spy.mockRestore())
    const deadlines: number[] = []
    spy.mockImplementation((milliseconds) => {
      deadlines.push(milliseconds)
      return timeout(Math.ceil(milliseconds / 100))
    })
    return deadlines
  }

  test('is three seconds in all for two nodes that are silent, and is called a time-out', async () => {
    const deadlines = hurriedDeadlines()
    const { rpc, asked } = rpcOver({ [FIRST]: silent, [SECOND]: silent }, { random: 0.999, elapse: () => 1650.123 })
    expect((await failureOf(rpc(CALLS))).code).toBe('upstream_timeout')
    expect(asked).toEqual([FIRST, SECOND])
    // Node refuses fractions of a millisecond; the pause between the tries is 100 ms at most.
    for (const deadline of deadlines) expect(Number.isInteger(deadline)).toBe(true)
    expect(deadlines).toHaveLength(2)
    expect(1650.123 + (deadlines[1] ?? 0)).toBeLessThanOrEqual(3000)
  })

  test('is three seconds for the only node', async () => {
    const deadlines = hurriedDeadlines()
    const { rpc } = rpcOver({ [FIRST]: good() })
    await rpc(CALLS)
    expect(deadlines).toEqual([3000])
  })

  test('covers an answer whose end never comes', async () => {
    hurriedDeadlines()
    // As fetch does it, the signal also ends the reading of the body.
    const node: Node = (_, signal) =>
      new Response(
        new ReadableStream({ start: (body) => signal.addEventListener('abort', () => body.error(signal.reason)) }),
      )
    const { rpc } = rpcOver({ [FIRST]: node }, { elapse: () => 3000 })
    expect((await failureOf(rpc(CALLS))).code).toBe('upstream_timeout')
  })

  test('holds on a real wire, which says nothing of the URL', async () => {
    const wire = await startWire('http://127.0.0.1:9')
    onTestFinished(wire.stop)
    wire.behaviour = 'never answer'
    const rpc = createRpc([`${wire.url}/hunter2`], { fetch, random: () => 0, now: () => performance.now() })
    const failure = await failureOf(rpc(CALLS))
    expect(failure.code).toBe('upstream_timeout')
    expect(inspect(failure, { depth: null, showHidden: true })).not.toMatch(/hunter2|127\.0\.0\.1/)
  })

  test('is not waited for when nobody listens', async () => {
    const rpc = createRpc(['http://127.0.0.1:9/hunter2'], { fetch, random: () => 0, now: () => performance.now() })
    const failure = await failureOf(rpc(CALLS))
    expect(failure.code).toBe('upstream_unavailable')
    expect(inspect(failure, { depth: null, showHidden: true })).not.toMatch(/hunter2|127\.0\.0\.1/)
  })
})
