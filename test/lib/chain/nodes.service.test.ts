import { inspect } from 'node:util'
import { toHex } from 'viem'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createRpc } from '../../../lib/chain/nodes.ts'
import { NodeError, parseLimit } from '../../../lib/chain/refusal.ts'
import type { RpcRequest } from '../../../lib/chain/rpc.ts'
import type { AppError } from '../../../lib/core/errors.ts'
import type { HttpEnvironment } from '../../../lib/core/http.ts'
import { logger } from '../../../lib/core/logger.ts'
import { catchFailure } from '../../support/errors.ts'
import { startRecordingProxy } from '../../support/wire.ts'

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
/** A simulated node. It returns the HTTP response to a batch of calls or throws, like `fetch`. */
type Node = (batch: Batch, signal: AbortSignal) => Response | Promise<Response>

const createHealthyNode =
  (order: <T>(items: T[]) => T[] = (items) => items): Node =>
  (batch) =>
    Response.json(order(batch.map(({ id, method }) => ({ jsonrpc: '2.0', id, ...resultOf(method) }))))
const answering =
  (body: unknown): Node =>
  () =>
    Response.json(body)
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

function rpcOver(
  nodes: Readonly<Record<string, Node>>,
  { random = 0, elapse = () => 0, chainId }: { random?: number; elapse?: () => number; chainId?: number } = {},
) {
  const urls: string[] = []
  const batches: Batch[] = []
  let now = 1000.25
  const environment = {
    fetch: vi.fn(async (url: string, init: { body: string; signal: AbortSignal }) => {
      urls.push(url)
      const batch: Batch = JSON.parse(init.body)
      batches.push(batch)
      now += elapse()
      return await (nodes[url] as Node)(batch, init.signal)
    }),
    random: vi.fn(() => random),
    now: () => now,
  }
  const rpc = createRpc(Object.keys(nodes) as [string, ...string[]], environment as unknown as HttpEnvironment, {
    ...(chainId !== undefined && { chainId }),
  })
  return { rpc, urls, batches, environment }
}

describe('A batch', () => {
  test('is one HTTP request of JSON-RPC 2.0 calls, each with its own id', async () => {
    const { rpc, batches, environment } = rpcOver({ [FIRST]: createHealthyNode() })
    expect(await rpc(CALLS)).toEqual(RESULTS)
    expect(batches).toEqual([CALLS.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))])
    expect(environment.fetch.mock.calls[0]?.[1]).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    })
  })

  test('gets its outcomes in its own order, whatever the order of the responses', async () => {
    const { rpc } = rpcOver({ [FIRST]: createHealthyNode((items) => items.toReversed()) })
    expect(await rpc(CALLS)).toEqual(RESULTS)
  })

  test('gets an error of one call as that call’s outcome, without the node’s text', async () => {
    const error = { code: 3, message: `execution reverted, see ${FIRST}`, data: '0x08c379a0' }
    const { rpc, urls } = rpcOver({
      [FIRST]: answering([
        { id: 1, error },
        { id: 0, result: '0x1' },
        { id: 2, result: '0x' },
      ]),
    })
    expect(await rpc(CALLS)).toEqual([{ result: '0x1' }, { error: { code: 3 } }, { result: '0x' }])
    expect(urls).toHaveLength(1)
  })

  // The node returns the first parameter of each call as its result.
  const echo: Node = (batch) => Response.json(batch.map(({ id, params }) => ({ id, result: params[0] })))
  test.for([
    ['501 calls', Array.from({ length: 501 }, (_, i) => i), [500, 1]],
    ['calls of more than a million characters', ['a', 'b', 'c'].map((one) => one.repeat(450_000)), [2, 1]],
    ['one call of more than a million characters', ['a'.repeat(1_200_000), 'b'], [1, 1]],
    ['no call', [], []],
  ] as const)('of %s is split into parallel requests that providers take', async ([, params, lengths]) => {
    const { rpc, batches } = rpcOver({ [FIRST]: echo })
    const outcomes = await rpc(params.map((param) => ({ method: 'eth_call', params: [param] })))
    expect(outcomes).toEqual(params.map((result) => ({ result })))
    expect(batches.map(({ length }) => length)).toEqual(lengths)
  })

  test('ignores responses to calls that it did not make', async () => {
    const { rpc } = rpcOver({
      [FIRST]: answering([...RESULTS.map((result, id) => ({ id, ...result })), { id: 99, result: 'more' }]),
    })
    expect(await rpc(CALLS)).toEqual(RESULTS)
  })
})

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
  'A call for too much data (%s) fails without the others, whatever its code',
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
    const { rpc, urls } = rpcOver({ [FIRST]: node })
    expect((await catchFailure(rpc(CALLS))).code).toBe(code)
    expect(urls).toEqual([FIRST, FIRST])
  })

  test.for(FAILURES)('%s is replaced by the next one, which stays the first choice', async ([, node]) => {
    const { rpc, urls } = rpcOver({ [FIRST]: node, [SECOND]: createHealthyNode() })
    expect(await rpc(CALLS)).toEqual(RESULTS)
    expect(urls).toEqual([FIRST, SECOND])
    expect(await rpc(CALLS)).toEqual(RESULTS)
    expect(urls).toEqual([FIRST, SECOND, SECOND])
  })

  test.for(FAILURES)('%s leads to an error without its URL, key or text', async ([, node]) => {
    const { rpc } = rpcOver({ [FIRST]: node, [SECOND]: node })
    const failure = await catchFailure(rpc(CALLS))
    const output = inspect(failure, { depth: null, showHidden: true }) + JSON.stringify(failure)
    expect(output).not.toMatch(/hunter2|first\.example|second\.example|https?:|execution reverted/)
    expect(failure.cause).toBeInstanceOf(Error)
  })

  test('fails for two parallel batches is replaced for both', async () => {
    const { rpc, urls } = rpcOver({ [FIRST]: unreachable, [SECOND]: createHealthyNode() })
    expect(await Promise.all([rpc(CALLS), rpc(CALLS)])).toEqual([RESULTS, RESULTS])
    expect(urls).toEqual([FIRST, FIRST, SECOND, SECOND])
  })
})

describe('A retry', () => {
  test('is sent once', async () => {
    const { rpc, urls } = rpcOver({ [FIRST]: unreachable, [SECOND]: unreachable })
    await catchFailure(rpc(CALLS))
    expect(urls).toEqual([FIRST, SECOND])
  })

  test('goes to the same node if there is only one', async () => {
    let tries = 0
    const node: Node = (batch, signal) => {
      tries += 1
      return tries === 1 ? status(500)(batch, signal) : createHealthyNode()(batch, signal)
    }
    const { rpc, urls } = rpcOver({ [FIRST]: node })
    expect(await rpc(CALLS)).toEqual(RESULTS)
    expect(urls).toEqual([FIRST, FIRST])
  })

  test('goes to the only node for a call that it has not served, such as one for a block that it still lacks', async () => {
    const lagging = refusing('eth_call', { code: -32_000, message: 'header not found' })
    let tries = 0
    const node: Node = (batch, signal) => {
      tries += 1
      return tries === 1 ? lagging(batch, signal) : createHealthyNode()(batch, signal)
    }
    const { rpc, batches } = rpcOver({ [FIRST]: node })
    expect(await rpc(CALLS)).toEqual(RESULTS)
    expect(batches.map((batch) => batch.length)).toEqual([3, 1])
  })

  test('waits a random time, which a successful batch does not draw', async () => {
    const { rpc, environment } = rpcOver({ [FIRST]: unreachable, [SECOND]: createHealthyNode() }, { random: 0.999 })
    await rpc(CALLS)
    expect(environment.random).toHaveBeenCalledTimes(1)
    await rpc(CALLS)
    expect(environment.random).toHaveBeenCalledTimes(1)
  })

  test.for([3000, 2900, 2800.5])('is not sent after %i ms of the three seconds', async (elapsed) => {
    const { rpc, urls } = rpcOver({ [FIRST]: unreachable, [SECOND]: createHealthyNode() }, { elapse: () => elapsed })
    expect((await catchFailure(rpc(CALLS))).code).toBe('upstream_unavailable')
    expect(urls).toEqual([FIRST])
    // The next batch goes to the second node first and has a deadline of its own.
    expect(await rpc(CALLS)).toEqual(RESULTS)
    expect(urls).toEqual([FIRST, SECOND])
  })

  test('is sent while there is time left', async () => {
    const { rpc, urls } = rpcOver({ [FIRST]: unreachable, [SECOND]: createHealthyNode() }, { elapse: () => 1650.123 })
    expect(await rpc(CALLS)).toEqual(RESULTS)
    expect(urls).toEqual([FIRST, SECOND])
  })
})

describe('The deadline of a batch', () => {
  /** A node that never responds. Its requests end only when their signal aborts. */
  const silent: Node = (_, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

  /** Makes deadlines a hundred times shorter. Returns the normal deadlines in milliseconds. */
  function shortenDeadlines(): number[] {
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

  test('is three seconds in total for two silent nodes, then upstream_timeout', async () => {
    const deadlines = shortenDeadlines()
    const { rpc, urls } = rpcOver({ [FIRST]: silent, [SECOND]: silent }, { random: 0.999, elapse: () => 1650.123 })
    expect((await catchFailure(rpc(CALLS))).code).toBe('upstream_timeout')
    expect(urls).toEqual([FIRST, SECOND])
    // AbortSignal.timeout refuses fractions of a millisecond.
    for (const deadline of deadlines) expect(Number.isInteger(deadline)).toBe(true)
    expect(deadlines).toHaveLength(2)
    expect(1650.123 + (deadlines[1] ?? 0)).toBeLessThanOrEqual(3000)
  })

  test('is three seconds for the only node', async () => {
    const deadlines = shortenDeadlines()
    const { rpc } = rpcOver({ [FIRST]: createHealthyNode() })
    await rpc(CALLS)
    expect(deadlines).toEqual([3000])
  })

  test('covers a response that never ends', async () => {
    shortenDeadlines()
    // The signal also aborts the response's body, like the signal of `fetch`.
    const node: Node = (_, signal) =>
      new Response(
        new ReadableStream({ start: (body) => signal.addEventListener('abort', () => body.error(signal.reason)) }),
      )
    const { rpc } = rpcOver({ [FIRST]: node }, { elapse: () => 3000 })
    expect((await catchFailure(rpc(CALLS))).code).toBe('upstream_timeout')
  })

  test('holds for a real connection, and the error hides the URL', async () => {
    const wire = await startRecordingProxy('http://127.0.0.1:9')
    onTestFinished(wire.stop)
    wire.behaviour = 'never answer'
    const rpc = createRpc([`${wire.url}/hunter2`], { fetch, random: () => 0, now: () => performance.now() })
    const failure = await catchFailure(rpc(CALLS))
    expect(failure.code).toBe('upstream_timeout')
    expect(inspect(failure, { depth: null, showHidden: true })).not.toMatch(/hunter2|127\.0\.0\.1/)
  })

  test('is not used up if no server listens', async () => {
    const rpc = createRpc(['http://127.0.0.1:9/hunter2'], { fetch, random: () => 0, now: () => performance.now() })
    const failure = await catchFailure(rpc(CALLS))
    expect(failure.code).toBe('upstream_unavailable')
    expect(inspect(failure, { depth: null, showHidden: true })).not.toMatch(/hunter2|127\.0\.0\.1/)
  })
})

describe('A node’s limits are learnt from its refusals:', () => {
  const LOGS = (fromBlock: number, toBlock: number): RpcRequest => ({
    method: 'eth_getLogs',
    params: [{ fromBlock: toHex(fromBlock), toBlock: toHex(toBlock) }],
  })
  const BLOCKS = Array.from(
    { length: 25 },
    (_, i): RpcRequest => ({
      method: 'eth_getBlockByNumber',
      params: [toHex(i)],
    }),
  )
  const WITH_OVERRIDES: RpcRequest = { method: 'eth_call', params: [{}, 'latest', { '0x1': { code: '0x00' } }] }
  const whole = (status: number, code: number, message: string) =>
    Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
  const answered = (batch: Batch) => batch.map(({ id, method, params }) => ({ id, result: [method, params[0]] }))
  // The node also accepts a single call that is not in a list.
  const echo: Node = (batch) =>
    Response.json(Array.isArray(batch) ? answered(batch) : answered([batch as unknown as Batch[number]])[0])
  const resultsOf = (calls: readonly RpcRequest[]) =>
    calls.map(({ method, params }) => ({ result: [method, params[0]] }))

  /** Batch limits of node providers, from their documentation. Each has the provider's error for a larger batch. */
  test.for<[string, number, () => Response, number]>([
    ['base.org', 10, () => whole(200, -32_014, 'maximum 10 calls in 1 batch'), 3],
    ['a newer proxyd', 10, () => whole(413, -32_014, 'maximum 10 calls in 1 batch'), 3],
    ['dRPC free', 3, () => whole(500, 31, 'Batch of more than 3 requests are not allowed on free tier'), 9],
    [
      'dRPC free, call by call,',
      3,
      () =>
        Response.json([{ id: 0, error: { code: 31, message: 'Batch of more than 3 requests are not allowed' } }], {
          status: 500,
        }),
      9,
    ],
    [
      'dRPC free, without an envelope,',
      3,
      () => Response.json({ code: 31, message: 'Batch of more than 3 requests are not allowed' }, { status: 500 }),
      9,
    ],
    ['geth', 10, () => Response.json([{ id: 0, error: { code: -32_600, message: 'batch too large' } }]), 5],
    ['a node without words', 10, () => new Response('Request Entity Too Large', { status: 413 }), 5],
    ['Helius free', 0, () => whole(403, -32_403, 'Batch requests are only available for paid plans'), 25],
  ])('%s gets its calls in as many requests as its limit requires', async ([, most, refusal, requests]) => {
    const node: Node = (batch, signal) =>
      (Array.isArray(batch) ? batch.length > most : false) ? refusal() : echo(batch, signal)
    const { rpc, urls } = rpcOver({ [FIRST]: node })
    expect(await rpc(BLOCKS)).toEqual(resultsOf(BLOCKS))
    urls.length = 0
    expect(await rpc(BLOCKS)).toEqual(resultsOf(BLOCKS))
    expect(urls).toHaveLength(requests)
  })

  test.for<[string, number, () => Response | { code: number; message: string }, number]>([
    ['base.org', 500, () => whole(413, -32_614, 'eth_getLogs is limited to a 500 range'), 500],
    ['QuickNode', 5, () => whole(413, -32_614, 'eth_getLogs is limited to a 5 range'), 5],
    [
      'Alchemy free',
      10,
      () =>
        whole(
          400,
          -32_600,
          'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x0, 0x9].',
        ),
      10,
    ],
    ['PublicNode', 900, () => ({ code: -32_701, message: 'exceed maximum block range: 900' }), 900],
    ['dRPC', 800, () => ({ code: 35, message: 'ranges over 800 blocks are not supported on freetier' }), 800],
    ['a node without a number', 700, () => ({ code: -32_602, message: 'block range is too wide' }), 500],
    ['eRPC', 700, () => ({ code: -32_012, message: 'block range too large' }), 500],
  ])('%s gets no request for events of more blocks than its limit again', async ([, most, refusal, blocks]) => {
    const isTooWide = ({ params }: RpcRequest) => {
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
      return Number(toBlock) - Number(fromBlock) >= most
    }
    const node: Node = (batch, signal) => {
      const wide = batch.filter((call) => call.method === 'eth_getLogs' && isTooWide(call))
      const refused = refusal()
      if (wide.length === 0) return echo(batch, signal)
      if (refused instanceof Response) return refused
      return Response.json(
        batch.map((call) => (wide.includes(call) ? { id: call.id, error: refused } : answered([call])[0])),
      )
    }
    const { rpc, urls } = rpcOver({ [FIRST]: node })
    const [balance] = BLOCKS as [RpcRequest]
    let outcomes = await rpc([balance, LOGS(1, 1000), LOGS(1, 2)])
    for (let look = 0; look < 3 && blocks < most; look += 1) outcomes = await rpc([balance, LOGS(1, 1000), LOGS(1, 2)])
    expect(outcomes).toMatchObject([
      { result: [balance.method, '0x0'] },
      { error: { refusal: 'range', blocks } },
      { result: ['eth_getLogs', {}] },
    ])
    urls.length = 0
    expect(await rpc([LOGS(1, 1000)])).toMatchObject([{ error: { refusal: 'range', blocks } }])
    expect(urls).toEqual([])
    expect(await rpc([LOGS(1, blocks)])).toMatchObject([{ result: ['eth_getLogs', {}] }])
  })

  test.for([
    'execution reverted: this method is not supported',
    'execution reverted: price too old',
    'execution reverted: rate limit',
  ])('a contract’s revert reason (%s) changes no limit', async (message) => {
    const call: RpcRequest = { method: 'eth_call', params: [{}, 'latest'] }
    const node: Node = (batch) => Response.json(batch.map(({ id }) => ({ id, error: { code: 3, message } })))
    const { rpc, urls } = rpcOver({ [FIRST]: node, [SECOND]: echo })
    expect(await rpc([call])).toEqual([{ error: { code: 3 } }])
    expect(await rpc([call])).toEqual([{ error: { code: 3 } }])
    expect(urls).toEqual([FIRST, FIRST])
  })

  test.for<['blocks' | 'calls', string, number]>([
    ['blocks', 'requested too many blocks (9999 > 5000)', 5_000],
    ['blocks', 'block range too large, max is 5k blocks', 5_000],
    ['calls', 'Batch of more than 3 requests are not allowed', 3],
    ['calls', 'maximum 10 calls in 1 batch', 10],
    ['calls', 'batches of 20 calls, ranges of 10 blocks', 20],
    ['blocks', 'limited to 2 requests/second on this plan, and to 1000 blocks', 1_000],
    ['blocks', '50 requests per second; 2,000 block range', 2_000],
    ['blocks', '5 requests every second and 2,000 blocks', 2_000],
    ['blocks', '30 requests within 1 minute; 3,000 blocks', 3_000],
    ['blocks', '2 requests at once; 300 blocks', 300],
    ['blocks', 'too wide a range, at most 300 calls', 0],
    ['blocks', 'rate 100 rps, max 500 blocks', 500],
    ['blocks', 'up to a 10 block range per request. Upgrade at 2 min intervals', 10],
    ['blocks', 'block range is too wide', 0],
  ])('the limit of %s in "%s" is %i', ([limited, message, limit]) => {
    expect(parseLimit(message, 10_000, limited) ?? 0).toBe(limit)
  })

  test('only the beginning of a long message is read', () => {
    expect(NodeError.parse({ code: 1, message: '9'.repeat(1_000_000) }).message.length).toBeLessThanOrEqual(1_000)
  })

  test('too many events in one range do not limit other ranges', async () => {
    const node: Node = (batch) =>
      Response.json(
        batch.map(({ id }) => ({ id, error: { code: -32_005, message: 'query returned more than 10000 results' } })),
      )
    const { rpc, urls } = rpcOver({ [FIRST]: node })
    expect(await rpc([LOGS(1, 1000)])).toEqual([{ error: { code: -32_005, refusal: 'results' } }])
    await rpc([LOGS(1, 1000)])
    expect(urls).toHaveLength(2)
  })

  test.for<[string, Node]>([
    [
      'in the batch',
      (batch) =>
        Response.json(
          batch.map((call) =>
            call.params.length > 2
              ? { id: call.id, error: { code: -32_602, message: 'too many arguments, want at most 2' } }
              : answered([call])[0],
          ),
        ),
    ],
    [
      'as a whole',
      (batch, signal) =>
        batch.some(({ params }) => params.length > 2)
          ? whole(400, 35, 'state overrides are not available on freetier')
          : echo(batch, signal),
    ],
  ])('state overrides that are refused %s are not sent again, and other calls are served', async ([, node]) => {
    const { rpc, urls, batches } = rpcOver({ [FIRST]: node })
    const [block] = BLOCKS as [RpcRequest]
    expect(await rpc([block, WITH_OVERRIDES, block])).toMatchObject([
      { result: [block.method, '0x0'] },
      { error: { refusal: 'unsupported' } },
      { result: [block.method, '0x0'] },
    ])
    urls.length = 0
    batches.length = 0
    expect(await rpc([block, WITH_OVERRIDES, block])).toMatchObject([
      { result: [block.method, '0x0'] },
      { error: { refusal: 'unsupported' } },
      { result: [block.method, '0x0'] },
    ])
    expect(batches).toHaveLength(1)
    expect(batches.flat().some(({ params }) => params.length > 2)).toBe(false)
  })

  test('a missing method goes to the next node, and directly there the next time', async () => {
    const node: Node = (batch) =>
      Response.json(
        batch.map((call) =>
          call.method === 'eth_simulateV1'
            ? { id: call.id, error: { code: -32_601, message: 'the method does not exist' } }
            : answered([call])[0],
        ),
      )
    const { rpc, urls } = rpcOver({ [FIRST]: node, [SECOND]: echo })
    const calls = [...BLOCKS.slice(0, 2), { method: 'eth_simulateV1', params: ['x'] }]
    expect(await rpc(calls)).toEqual(resultsOf(calls))
    expect(urls).toEqual([FIRST, SECOND])
    expect(await rpc(calls)).toEqual(resultsOf(calls))
    expect(urls.slice(2).sort()).toEqual([FIRST, SECOND].sort())
  })

  test.for<[string, () => Response | { code: number; message: string }]>([
    [
      'that it has no healthy backend for',
      () => ({ code: -32_011, message: 'no backend is currently healthy to serve traffic' }),
    ],
    ['that it has not seen yet', () => ({ code: -32_000, message: 'header not found' })],
    ['that proxyd has not seen yet', () => ({ code: -32_019, message: 'block is out of range' })],
    ['that reth has not seen yet', () => ({ code: -32_001, message: 'block not found: 0x7' })],
    ['that Erigon has pruned', () => ({ code: -32_000, message: 'old data not available due to pruning' })],
    ['that Nethermind has no state for', () => ({ code: -32_002, message: 'No state available for block 7' })],
    ['that it fails at', () => ({ code: -32_603, message: 'Internal error' })],
  ])('a call %s goes to the next node without the others', async ([, refusal]) => {
    const node: Node = (batch, signal) => {
      const refused = refusal()
      if (!batch.some(({ params }) => params[0] === '0x7')) return echo(batch, signal)
      if (refused instanceof Response) return refused
      return Response.json(
        batch.map((call) => (call.params[0] === '0x7' ? { id: call.id, error: refused } : answered([call])[0])),
      )
    }
    const { rpc, batches, urls } = rpcOver({ [FIRST]: node, [SECOND]: echo })
    const calls = BLOCKS.slice(4, 12)
    expect(await rpc(calls)).toEqual(resultsOf(calls))
    expect(batches.filter((_, i) => urls[i] === SECOND)).toMatchObject([[{ params: ['0x7'] }]])
  })

  /** Errors with texts that the service does not recognize. Some answer a whole request, others each call. */
  const UNKNOWN: readonly (readonly [string, () => Response | { code: number; message: string }])[] = [
    ['dRPC on a free plan', () => whole(400, 35, 'chain is not available on free plan')],
    ['dRPC without a provider', () => whole(400, 12, "Can't route your request to suitable provider")],
    ['dRPC that is slow', () => whole(408, 30, 'Request timeout on the free tier, please upgrade')],
    ['1RPC above its quota', () => ({ code: -32_001, message: 'usage limit reached, upgrade your plan' })],
    ['Tenderly above its quota', () => ({ code: -32_004, message: 'quota limit reached' })],
    ['a gateway with a code of its own', () => ({ code: 4_711, message: 'computer says no' })],
    ['a node that gives up', () => ({ code: -32_000, message: 'execution aborted (timeout = 5s)' })],
    ['a node without words', () => ({ code: -32_000, message: '' })],
    ['eRPC without an upstream', () => ({ code: -32_015, message: 'upstream did not respond in time' })],
    ['a provider that wants money', () => ({ code: -32_000, message: 'Insufficient balance, please top up' })],
    ['a request that it calls invalid', () => ({ code: -32_600, message: 'invalid request' })],
  ]
  const failingWith =
    (refusal: () => Response | { code: number; message: string }): Node =>
    (batch) => {
      const refused = refusal()
      if (refused instanceof Response) return refused
      const refusedCalls = (Array.isArray(batch) ? batch : [batch]).map(({ id }) => ({ id, error: refused }))
      return Response.json(Array.isArray(batch) ? refusedCalls : refusedCalls[0])
    }

  test.for(UNKNOWN)('%s: a call with an unknown error goes to the next node', async ([, refusal]) => {
    const { rpc, urls } = rpcOver({ [FIRST]: failingWith(refusal), [SECOND]: echo })
    const calls = [...BLOCKS.slice(0, 3), LOGS(1, 10)]
    expect(await rpc(calls)).toEqual(resultsOf(calls))
    expect(urls).toEqual([FIRST, SECOND])
  })

  test.for([
    { code: 3, message: 'execution reverted' },
    { code: -32_000, message: 'out of gas' },
    { code: -32_000, message: 'stack underflow (0 <=> 1)' },
    { code: -32_000, message: 'invalid jump destination' },
    { code: -32_000, message: 'insufficient funds for gas * price + value' },
    { code: -32_015, message: 'VM execution error.' },
    { code: -32_003, message: 'EVM error: InvalidFEOpcode' },
    { code: -32_003, message: 'StackUnderflow' },
    { code: -32_603, message: 'EVM error InvalidJump' },
    { code: -32_000, message: 'insufficient sender balance' },
    { code: -32_000, message: 'insufficient MaxFeePerGas for sender balance' },
    { code: -32_000, message: 'wrong transaction nonce' },
    { code: -32_000, message: 'nonce has max value' },
    { code: -32_000, message: 'insufficient gas for floor data gas cost: gas 21000, minimum needed 30000' },
    { code: -32_004, message: 'Upfront cost exceeds account balance' },
    { code: -32_005, message: 'Transaction gas limit exceeds block gas limit' },
    { code: -32_602, message: 'invalid argument 0: hex string has length 2, want 40' },
    { code: -38_013, message: 'intrinsic gas too low' },
  ])('$message is the call’s own failure, which goes to no other node', async (error) => {
    const { rpc, urls } = rpcOver({ [FIRST]: failingWith(() => error), [SECOND]: echo })
    expect(await rpc([BLOCKS[0] as RpcRequest])).toEqual([{ error: { code: error.code } }])
    expect(urls).toEqual([FIRST])
  })

  test('a call that fails alike at all nodes fails without the others', async () => {
    const node: Node = (batch) =>
      Response.json(
        batch.map((call) =>
          call.params[0] === '0x7' ? { id: call.id, error: { code: -32_000, message: 'x' } } : answered([call])[0],
        ),
      )
    const { rpc } = rpcOver({ [FIRST]: node, [SECOND]: node })
    const outcomes = await rpc(BLOCKS.slice(6, 9))
    expect(outcomes).toEqual([
      ...resultsOf(BLOCKS.slice(6, 7)),
      { error: { code: -32_000, refusal: 'unserved' } },
      ...resultsOf(BLOCKS.slice(8, 9)),
    ])
  })

  test.for([
    ...['eth_call', 'eth_getBlockByNumber', 'eth_chainId', 'eth_blockNumber', 'eth_getLogs'],
    ...['eth_getTransactionReceipt', 'eth_getTransactionByHash', 'eth_getCode', 'eth_getStorageAt', 'eth_getBalance'],
    'eth_getTransactionCount',
  ])('%s is requested again after a node once reports it as missing', async (method) => {
    let isOdd = true
    const error = { code: -32_601, message: `the method ${method} does not exist/is not available` }
    const node: Node = (batch, signal) => (isOdd ? failingWith(() => error)(batch, signal) : echo(batch, signal))
    const { rpc, urls } = rpcOver({ [FIRST]: node })
    const call = { method, params: method === 'eth_getLogs' ? LOGS(1, 1).params : ['x'] }
    expect(await rpc([call])).toEqual([{ error: { code: -32_601, refusal: 'unserved' } }])
    isOdd = false
    urls.length = 0
    expect(await rpc([call])).toEqual(resultsOf([call]))
    expect(urls).toEqual([FIRST])
  })

  test('a node that refuses the events of one block is faulty, and is called again', async () => {
    let isOdd = true
    const node: Node = (batch, signal) =>
      isOdd ? failingWith(() => ({ code: -32_005, message: 'limit exceeded' }))(batch, signal) : echo(batch, signal)
    const { rpc } = rpcOver({ [FIRST]: node })
    for (let look = 0; look < 12; look += 1) await rpc([LOGS(7, 7)])
    isOdd = false
    expect(await rpc([LOGS(7, 7)])).toEqual(resultsOf([LOGS(7, 7)]))
  })

  test('a result with too many bytes fails its call only, and does not limit batches', async () => {
    const node: Node = (batch) =>
      Response.json(
        batch.map((call) =>
          call.method === 'eth_getLogs' ? { id: call.id, result: 'x'.repeat(5_000) } : answered([call])[0],
        ),
      )
    const { rpc, batches } = rpcOver({ [FIRST]: node })
    const calls = [...BLOCKS.slice(0, 3), LOGS(1, 10)]
    expect(await rpc(calls, { mostBytes: 4_000 })).toEqual([
      ...resultsOf(BLOCKS.slice(0, 3)),
      { error: { code: 413, refusal: 'results' } },
    ])
    batches.length = 0
    expect(await rpc(calls)).toMatchObject([{}, {}, {}, { result: 'x'.repeat(5_000) }])
    expect(batches).toHaveLength(1)
  })

  test('a pruned block is read from the next node, and directly there the next time', async () => {
    const isOld = ({ params }: RpcRequest) => Number(params[0]) <= 7
    const node: Node = (batch, signal) =>
      batch.some(isOld) ? whole(403, -32_602, 'Archive requests require a personal token') : echo(batch, signal)
    const { rpc, batches, urls } = rpcOver({ [FIRST]: node, [SECOND]: echo })
    expect(await rpc(BLOCKS)).toEqual(resultsOf(BLOCKS))
    expect(batches.filter((_, i) => urls[i] === SECOND).flat().length).toBeLessThanOrEqual(14)
    expect(urls.length).toBeLessThanOrEqual(12)
    urls.length = 0
    expect(await rpc(BLOCKS.slice(0, 4))).toEqual(resultsOf(BLOCKS.slice(0, 4)))
    expect(urls).toEqual([SECOND])
  })

  test('twice the limit is tried after a doubling pause, and no limit holds after a success', async () => {
    let elapsed = 0
    let most = 10
    const node: Node = (batch, signal) =>
      batch.length > most ? whole(200, -32_014, `maximum ${most} calls in 1 batch`) : echo(batch, signal)
    const { rpc, batches } = rpcOver({ [FIRST]: node }, { elapse: () => elapsed })
    const longest = async (pause: number) => {
      elapsed = pause
      await rpc(BLOCKS.slice(0, 1))
      elapsed = 0
      batches.length = 0
      await rpc(BLOCKS)
      return Math.max(...batches.map(({ length }) => length))
    }
    await rpc(BLOCKS)
    expect(await longest(4_000)).toBe(10)
    expect(await longest(1_001)).toBe(20)
    expect(await longest(9_000)).toBe(10)
    most = 100
    expect(await longest(1_001)).toBe(20)
    expect(await longest(0)).toBe(25)
  })

  test('a dry run that a node once reports as missing is sent again after five seconds', async () => {
    let elapsed = 0
    let isOdd = true
    const error = { code: -32_601, message: 'the method eth_simulateV1 does not exist/is not available' }
    const node: Node = (batch, signal) => (isOdd ? failingWith(() => error)(batch, signal) : echo(batch, signal))
    const { rpc, urls } = rpcOver({ [FIRST]: node }, { elapse: () => elapsed })
    const call = { method: 'eth_simulateV1', params: ['x'] }
    expect(await rpc([call])).toEqual([{ error: { code: -32_601, refusal: 'unsupported' } }])
    isOdd = false
    expect(await rpc([call])).toEqual([{ error: { code: -32_601, refusal: 'unsupported' } }])
    expect(urls).toHaveLength(1)
    elapsed = 5_001
    await rpc(BLOCKS.slice(0, 1))
    expect(await rpc([call])).toEqual(resultsOf([call]))
  })

  test('a refusal by all nodes does not change their order', async () => {
    const odd = failingWith(() => ({ code: -32_000, message: 'odd' }))
    const { rpc, urls } = rpcOver({ [FIRST]: odd, [SECOND]: odd })
    for (let turn = 0; turn < 2; turn += 1) await rpc(BLOCKS.slice(0, 1))
    expect(urls).toEqual([FIRST, SECOND, FIRST, SECOND])
  })

  test('the log has class and code of each node’s error if none serves', async () => {
    const warn = vi.spyOn(logger, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const { rpc } = rpcOver({ [FIRST]: () => whole(403, -32_004, 'quota of hunter2 reached'), [SECOND]: status(500) })
    await catchFailure(rpc(CALLS))
    expect(warn.mock.calls).toEqual([
      [
        'no node serves',
        {
          chainId: undefined,
          said: [
            '0: upstream_unavailable, HTTP status 403, unserved -32004',
            '1: upstream_unavailable, HTTP status 500',
          ],
        },
      ],
    ])
  })
})

describe('A node', () => {
  const answer =
    (result: string): Node =>
    (batch) =>
      Response.json(batch.map(({ id, method }) => ({ id, result: method === 'eth_chainId' ? result : '0x1' })))
  const CALL: readonly RpcRequest[] = [{ method: 'eth_blockNumber', params: [] }]

  test('of another chain never serves, and is asked for its chain id once', async () => {
    const { rpc, urls } = rpcOver({ [FIRST]: answer('0x1'), [SECOND]: answer('0x2105') }, { chainId: 8453 })
    expect(await rpc(CALL)).toEqual([{ result: '0x1' }])
    await rpc(CALL)
    expect(urls).toEqual([FIRST, SECOND, SECOND])
    const single = rpcOver({ [FIRST]: answer('0x1') }, { chainId: 8453 })
    expect((await catchFailure(single.rpc(CALL))).code).toBe('upstream_unavailable')
  })

  test('is asked for its chain id only in its first batch', async () => {
    const { rpc, batches } = rpcOver({ [FIRST]: answer('0x2105') }, { chainId: 8453 })
    await rpc(CALL)
    await rpc(CALL)
    expect(batches.map((batch) => batch.map(({ method }) => method))).toEqual([
      ['eth_chainId', 'eth_blockNumber'],
      ['eth_blockNumber'],
    ])
  })

  test('that redirects is not followed', async () => {
    const { rpc, urls, environment } = rpcOver({
      [FIRST]: () => new Response(null, { status: 307, headers: { location: 'https://elsewhere.example' } }),
      [SECOND]: answer('0x2105'),
    })
    expect(await rpc(CALL)).toEqual([{ result: '0x1' }])
    expect(urls).toEqual([FIRST, SECOND])
    expect(environment.fetch.mock.calls[0]?.[1]).toMatchObject({ redirect: 'manual' })
  })

  test('with a retry-after gets no requests until then, and the error has that time', async () => {
    let elapsed = 0
    const busy: Node = () => new Response('slow down', { status: 429, headers: { 'retry-after': '7' } })
    const { rpc, urls } = rpcOver({ [FIRST]: busy }, { elapse: () => elapsed })
    expect((await catchFailure(rpc(CALL))).headers).toEqual({ 'retry-after': '7' })
    expect((await catchFailure(rpc(CALL))).headers).toEqual({ 'retry-after': '7' })
    expect(urls).toEqual([FIRST])
    const two = rpcOver({ [FIRST]: busy, [SECOND]: answer('0x2105') }, { elapse: () => elapsed })
    await two.rpc(CALL)
    elapsed = 7_001
    await two.rpc(CALL)
    expect(two.urls).toEqual([FIRST, SECOND, SECOND])
  })

  test('that is slow still counts while the next one is called, too', async () => {
    const secondRequested = Promise.withResolvers<void>()
    const slow: Node = async (batch, signal) => {
      await secondRequested.promise
      return answer('0x2105')(batch, signal)
    }
    const never: Node = (_, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        secondRequested.resolve()
      })
    const { rpc, urls } = rpcOver({ [FIRST]: slow, [SECOND]: never })
    expect(await rpc(CALL)).toEqual([{ result: '0x1' }])
    expect(urls).toEqual([FIRST, SECOND])
  })

  test('that takes more than twice its usual time is joined by the next one', async () => {
    let isSlow = false
    const once: Node = (batch, signal) => {
      if (!isSlow) return answer('0x2105')(batch, signal)
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
    }
    const { rpc, urls } = rpcOver({ [FIRST]: once, [SECOND]: answer('0x2105') })
    await rpc(CALL)
    isSlow = true
    const begun = performance.now()
    expect(await rpc(CALL)).toEqual([{ result: '0x1' }])
    expect(urls).toEqual([FIRST, FIRST, SECOND])
    // The service sends the call to the second node before 1.65 s, the limit for nodes with an unknown usual response
    // time.
    expect(performance.now() - begun).toBeLessThan(1_500)
  })
})
