import { type Address, numberToHex, pad } from 'viem'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { createAgreedReaders } from '../../../lib/chain/agreed-reader.ts'
import { HexText } from '../../../lib/chain/hex.ts'
import { BlockHeader, blockRequest, type Log, parseResult, readLogsUntil } from '../../../lib/chain/logs.ts'
import { createRpc } from '../../../lib/chain/nodes.ts'
import type { Rpc } from '../../../lib/chain/rpc.ts'
import { simulationRequest } from '../../../lib/chain/simulation.ts'
import { AppError } from '../../../lib/core/errors.ts'
import type { HttpEnvironment } from '../../../lib/core/http.ts'

const HEAD = 3_000_000
const CONTRACT: Address = '0x00000000000000000000000000000000000000a1'
const TOPIC = pad('0x01')
/** Lowest block that all nodes serve. Some nodes refuse older blocks. */
const OLD = HEAD - 100_000

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }
/** A simulated host. It returns the HTTP response to these calls or throws, like `fetch`. */
type Host = (calls: readonly Call[], signal: AbortSignal, isPlain: boolean) => Response | Promise<Response>
type When = (call: Call, calls: readonly Call[]) => boolean

const hash = (number: number) => pad(numberToHex(number))
const headerOf = (number: number) => ({
  number: numberToHex(number),
  timestamp: numberToHex(1_700_000_000 + number * 2),
  hash: hash(number),
  parentHash: hash(number - 1),
})
const rangeOf = ({ method, params }: Call): readonly [number, number] | undefined => {
  const [filter] = params as [{ fromBlock: string; toBlock: string }]
  return method === 'eth_getLogs' ? [Number(filter.fromBlock), Number(filter.toBlock)] : undefined
}
function logsOf([from, to]: readonly [number, number]): object[] {
  const first = Math.ceil(from / 1_000)
  return Array.from({ length: Math.max(0, Math.floor(to / 1_000) - first + 1) }, (_, index) => {
    const block = (first + index) * 1_000
    const place = { blockNumber: numberToHex(block), transactionHash: hash(block), blockHash: hash(block) }
    return { address: CONTRACT, topics: [TOPIC], data: '0x', logIndex: '0x0', ...place }
  })
}

function resultOf(call: Call): unknown {
  const [block] = call.params
  switch (call.method) {
    case 'eth_chainId':
      return '0x2105'
    case 'eth_getBlockByNumber':
      return headerOf(typeof block === 'string' && block.startsWith('0x') ? Number(block) : HEAD)
    case 'eth_simulateV1':
      return [{ calls: [{ status: '0x1', gasUsed: '0x5208', returnData: '0x', logs: [] }] }]
    case 'eth_getLogs':
      return logsOf(rangeOf(call) ?? [0, 0])
    case 'eth_getBlockReceipts':
      return [{ logs: logsOf([Number(block), Number(block)]) }]
    default:
      return pad('0x2a')
  }
}

const answerOf = (call: Call) => ({ jsonrpc: '2.0', id: call.id, result: resultOf(call) })
const healthy: Host = (calls, _, isPlain) => {
  const answers = calls.map(answerOf)
  return Response.json(isPlain ? answers[0] : answers)
}

const always: When = () => true
const method =
  (...names: string[]): When =>
  (call) =>
    names.includes(call.method)
const logs = method('eth_getLogs')
const wider =
  (blocks: number): When =>
  (call) => {
    const [from, to] = rangeOf(call) ?? [0, 0]
    return to - from >= blocks
  }
const old: When = (call) => (rangeOf(call)?.[0] ?? HEAD) < OLD
const batchAbove =
  (most: number): When =>
  (_, calls) =>
    calls.length > most

const createWholeRefusal =
  (respond: () => Response, when: When = always): Host =>
  (calls, signal, isPlain) =>
    calls.some((call) => when(call, calls)) ? respond() : healthy(calls, signal, isPlain)
const error =
  (status: number, code: unknown, message: unknown, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers })
const plain =
  (status: number, text: string, headers: Record<string, string> = {}) =>
  () =>
    new Response(status === 204 ? null : text, { status, headers })
const redirect = (status: number) => () =>
  new Response(null, { status, headers: { location: 'https://elsewhere.example' } })

const createItemRefusal =
  (item: (call: Call) => object, when: When = always): Host =>
  (calls, _, isPlain) => {
    const answers = calls.map((call) => (when(call, calls) ? item(call) : answerOf(call)))
    return Response.json(isPlain ? answers[0] : answers)
  }
const refusing = (code: unknown, message: unknown, when: When = always): Host =>
  createItemRefusal(({ id }) => ({ id, error: { code, message } }), when)
const changed =
  (change: (answers: object[]) => unknown): Host =>
  (calls) =>
    Response.json(change(calls.map(answerOf)))

const hanging: Host = (_, signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
const dripping =
  (text: string): Host =>
  (_, signal) => {
    const start = (body: ReadableStreamDefaultController) => {
      body.enqueue(new TextEncoder().encode(text))
      signal.addEventListener('abort', () => body.error(signal.reason), { once: true })
    }
    return new Response(new ReadableStream({ start }))
  }
const unreachable: Host = () => {
  throw new TypeError('fetch failed')
}
const closing: Host = () =>
  new Response(new ReadableStream({ start: (body) => body.error(new TypeError('terminated')) }))
const CHUNKS = [new Uint8Array(1), new Uint8Array(33 * 2 ** 20)]
const huge = () => new Response(ReadableStream.from(CHUNKS))
const flapping = (): Host => {
  let requestCount = 0
  return (calls, signal, isPlain) =>
    requestCount++ % 2 ? healthy(calls, signal, isPlain) : plain(502, '<html>Bad Gateway</html>')()
}

const KINDS: readonly (readonly [string, () => Host])[] = Object.entries<Host | (() => Host)>({
  'cannot be reached': unreachable,
  'closes the connection': closing,
  'never answers': hanging,
  'stops within its answer': dripping('[{"id":0,"resu'),
  'begins an answer with spaces and stops': dripping('   '),
  'sends bytes without end': createWholeRefusal(huge),
  'sends bytes without end for events': createWholeRefusal(huge, logs),
  'redirects with 301': createWholeRefusal(redirect(301)),
  'redirects with 302': createWholeRefusal(redirect(302)),
  'redirects with 307': createWholeRefusal(redirect(307)),
  'has a page for an answer': createWholeRefusal(plain(200, '<html>Checking your browser</html>')),
  'has an empty body': createWholeRefusal(plain(200, '')),
  'has no content (204)': createWholeRefusal(plain(204, '')),
  'is unauthorised (401)': createWholeRefusal(plain(401, 'tenant disabled')),
  'wants to be paid (402)': createWholeRefusal(plain(402, 'Payment Required')),
  'forbids (403 page)': createWholeRefusal(plain(403, '<html>Forbidden</html>')),
  'is gone (404)': createWholeRefusal(plain(404, 'Not Found')),
  'allows no POST (405)': createWholeRefusal(plain(405, '')),
  'has a time-out of its own (408)': createWholeRefusal(
    error(408, 30, 'Request timeout on the free tier, please upgrade'),
  ),
  'limits its rate (429)': createWholeRefusal(plain(429, 'Too Many Requests')),
  'limits its rate (429, Retry-After)': createWholeRefusal(plain(429, 'slow down', { 'retry-after': '7' })),
  'fails (500)': createWholeRefusal(plain(500, 'Internal Server Error')),
  'is a bad gateway (502)': createWholeRefusal(plain(502, '<html>Bad Gateway</html>')),
  'is in maintenance (503, Retry-After)': createWholeRefusal(plain(503, '', { 'retry-after': '120' })),
  'times out (504)': createWholeRefusal(plain(504, '')),
  'has an origin that is down (521)': createWholeRefusal(plain(521, '')),
  'is a teapot (418)': createWholeRefusal(error(418, -32_000, 'no')),
  'fails every second time': flapping,
  'answers null': changed(() => null),
  'answers a number': changed(() => 7),
  'answers an empty list': changed(() => []),
  'answers the first call only': changed((answers) => answers[0]),
  'leaves out the last call': changed((answers) => answers.slice(0, -1)),
  'leaves out the first call': changed((answers) => answers.slice(1)),
  'answers in another order': changed((answers) => answers.toReversed()),
  'has one id for all': changed((answers) => answers.map((answer) => ({ ...answer, id: 0 }))),
  'answers twice, differently': changed((answers) => [...answers, { id: 0, result: '0x1' }]),
  'has ids of text': changed((answers) => answers.map((answer, id) => ({ ...answer, id: `${id}` }))),
  'has ids of its own': changed((answers) => answers.map((answer, id) => ({ ...answer, id: id + 100 }))),
  'has no ids': changed((answers) => answers.map(({ id: _, ...answer }: { id?: number }) => answer)),
  'has neither result nor error': createItemRefusal(({ id }) => ({ id })),
  'has null for every result': createItemRefusal(({ id }) => ({ id, result: null })),
  'has null for the latest block': createItemRefusal(
    ({ id }) => ({ id, result: null }),
    method('eth_getBlockByNumber'),
  ),
  'has null for events': createItemRefusal(({ id }) => ({ id, result: null }), logs),
  'has errors of text': createItemRefusal(({ id }) => ({ id, error: 'no' })),
  'has errors with codes of text': refusing('-32000', 'no'),
  'has errors with messages of null': refusing(-32_000, null),
  'is of another chain': createItemRefusal(({ id }) => ({ id, result: '0x1' }), method('eth_chainId')),
  'has a chain id of another form': createItemRefusal(({ id }) => ({ id, result: 8453 }), method('eth_chainId')),
  'refuses its chain id': refusing(-32_601, 'method not found', method('eth_chainId')),
  'base.org: 10 calls (200)': createWholeRefusal(error(200, -32_014, 'maximum 10 calls in 1 batch'), batchAbove(10)),
  'base.org: 10 calls (413)': createWholeRefusal(error(413, -32_014, 'maximum 10 calls in 1 batch'), batchAbove(10)),
  'dRPC free: 3 calls': createWholeRefusal(
    error(500, 31, 'Batch of more than 3 requests are not allowed on free tier'),
    batchAbove(3),
  ),
  'Helius free: no batches': (calls, signal, isPlain) =>
    isPlain
      ? healthy(calls, signal, isPlain)
      : error(403, -32_403, 'Batch requests are only available for paid plans')(),
  'geth: batch too large': createWholeRefusal(error(200, -32_600, 'batch too large'), batchAbove(2)),
  'PublicNode: batch size': createWholeRefusal(
    error(400, -32_600, 'batch size is too large, maximum 2'),
    batchAbove(2),
  ),
  'an empty 413 for batches': createWholeRefusal(plain(413, ''), batchAbove(1)),
  'an empty 413 for all': createWholeRefusal(plain(413, '')),
  'an empty 413 for wide ranges': createWholeRefusal(plain(413, ''), wider(2_000)),
  'base.org: 500 blocks': createWholeRefusal(error(413, -32_614, 'eth_getLogs is limited to a 500 range'), wider(501)),
  'QuickNode: 10,000 blocks': createWholeRefusal(
    error(413, -32_614, 'eth_getLogs is limited to a 10,000 range'),
    wider(9_000),
  ),
  'QuickNode trial: 5 blocks': createWholeRefusal(error(413, -32_615, 'eth_getLogs is limited to a 5 range'), wider(6)),
  'Alchemy free: 10 blocks': createWholeRefusal(
    error(400, -32_600, 'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.'),
    wider(10),
  ),
  'dRPC: ranges over 10000 for 2,000 blocks': createWholeRefusal(
    error(400, 35, 'ranges over 10000 blocks are not supported on freetier'),
    wider(2_000),
  ),
  'PublicNode: 900 blocks': refusing(-32_701, 'exceed maximum block range: 900', wider(900)),
  'Avalanche: too many blocks': refusing(
    -32_000,
    'requested too many blocks from 1 to 9999, maximum is set to 2048',
    wider(2_048),
  ),
  'Blast: range of the plan': refusing(-32_600, 'exceeds the range allowed for your plan (9999 > 3000)', wider(3_000)),
  'Chainstack: block range limit': refusing(-32_602, 'Block range limit exceeded. See more details', wider(100)),
  'reth: max block range': refusing(-32_602, 'query exceeds max block range 1000', wider(1_000)),
  'Besu: RPC range limit': refusing(-32_005, 'Requested range exceeds maximum RPC range limit', wider(1_000)),
  'a rate and a range in one sentence': refusing(
    -32_005,
    'limited to 2 requests/second on this plan, and to 1000 blocks',
    wider(1_000),
  ),
  'BSC: no events': refusing(-32_005, 'limit exceeded', logs),
  'Infura: 10,000 results': refusing(-32_005, 'query returned more than 10000 results', wider(5_000)),
  'reth: 20,000 results': refusing(
    -32_602,
    'query exceeds max results 20000, retry with the range 24383075-24383096',
    wider(5_000),
  ),
  'Arbitrum: 10,000 logs': refusing(-32_000, 'logs matched by query exceeds limit of 10000', wider(5_000)),
  'proxyd: response too large': refusing(-32_020, 'backend response too large', wider(5_000)),
  '1RPC: response size': refusing(-32_000, 'response size should not greater than 10000000 bytes', wider(5_000)),
  'geth: query time-out': refusing(-32_005, 'query timeout exceeded', wider(5_000)),
  'dRPC: no provider for old events': createWholeRefusal(
    error(400, 12, "Can't route your request to suitable provider"),
    old,
  ),
  'dRPC: slow for old events': createWholeRefusal(error(408, 30, 'Request timeout on the free tier'), old),
  'PublicNode: archive gate': createWholeRefusal(error(403, -32_602, 'Archive requests require a personal token'), old),
  'geth: pruned history': refusing(4_444, 'pruned history unavailable', old),
  'Nethermind: no receipts': refusing(-32_000, 'Receipt not available for From block 1000.', old),
  'Erigon: pruned': refusing(-32_000, 'seek with txNum=19 but data before txNum=26 is not available', old),
  'geth: missing trie node': refusing(-32_000, 'missing trie node b03d68 (path )', method('eth_call')),
  'Nethermind: no state': refusing(-32_002, 'No state available for block 7', method('eth_call')),
  'Besu: no world state': refusing(-32_000, 'World state unavailable', method('eth_call')),
  'is behind': refusing(-32_000, 'header not found', method('eth_call', 'eth_simulateV1')),
  'has unknown blocks': refusing(-39_001, 'Unknown block', method('eth_call')),
  'has a range beyond its head': refusing(-32_602, 'block range extends beyond current head block', logs),
  'proxyd: no backend, each call': refusing(-32_011, 'no backend is currently healthy to serve traffic'),
  'proxyd: no backend, one call': refusing(
    -32_011,
    'no backend is currently healthy to serve traffic',
    method('eth_call'),
  ),
  'proxyd: over capacity': createWholeRefusal(error(503, -32_012, 'backend is over capacity')),
  'base.org: rate limit': refusing(-32_016, 'over rate limit', method('eth_getBlockByNumber')),
  'eRPC: no upstream': refusing(-32_015, 'upstream did not respond in time'),
  'dRPC: chain of paid plans': createWholeRefusal(error(400, 35, 'chain is not available on free plan')),
  '1RPC: quota': refusing(-32_001, 'usage limit reached, upgrade your plan'),
  'Tenderly: quota': createWholeRefusal(error(403, -32_004, 'quota limit reached')),
  'Alchemy: monthly capacity': createWholeRefusal(
    error(429, 429, 'Monthly capacity limit exceeded. Visit your dashboard'),
  ),
  'wants to be topped up': refusing(-32_000, 'Insufficient balance, please top up'),
  'has an internal error': refusing(-32_603, 'Internal error'),
  'has an internal error for a batch': createWholeRefusal(error(200, -32_603, 'Internal error')),
  'calls all invalid': refusing(-32_600, 'invalid request'),
  'calls the parameters invalid': refusing(-32_602, 'the endpoint does not serve this'),
  'has a code of its own': refusing(4_711, 'computer says no'),
  'gives up after 5 s': refusing(-32_000, 'execution aborted (timeout = 5s)'),
  'lacks dry runs': refusing(
    -32_601,
    'the method eth_simulateV1 does not exist/is not available',
    method('eth_simulateV1'),
  ),
  'lacks dry runs (400)': createWholeRefusal(
    error(400, -32_601, 'Unsupported method: eth_simulateV1'),
    method('eth_simulateV1'),
  ),
  'lacks every method': refusing(-32_601, 'method not found'),
  'lacks eth_call': refusing(-32_601, 'method not found', method('eth_call')),
  'lacks events': refusing(-32_601, 'eth_getLogs is not allowed', logs),
  whitelists: createWholeRefusal(error(403, -32_601, 'method is not whitelisted')),
}).map(([name, host]) => [name, host.length === 0 && host === flapping ? flapping : () => host as Host])

const CHAIN_ID = 8453
const FILTER = { address: CONTRACT, topics: [TOPIC] }
const urlOf = (place: number) => `https://host-${place}.example${place}/hunter2`

function worldOf(hosts: readonly Host[]) {
  const counts = { requests: 0 }
  const environment = {
    fetch: async (url: string, { body, signal }: { body: string; signal: AbortSignal }) => {
      counts.requests += 1
      const parsed: Call | readonly Call[] = JSON.parse(body)
      const isPlain = !Array.isArray(parsed)
      const calls = [parsed].flat() as Call[]
      return (hosts[Number(url.at(13))] as Host)(calls, signal, isPlain)
    },
    random: () => 0,
    now: () => performance.now(),
    // The cast is safe, because nodes call `fetch` only with these arguments.
  } as unknown as HttpEnvironment
  const urls = hosts.map((_, place) => urlOf(place)) as [string, ...string[]]
  return { environment, urls, counts }
}

/** Number of requests after which a read of events gives up. Some hosts return events only block by block. */
const MAX_REQUESTS = 2_000
function blocksOf(
  { logs, through }: { readonly logs: readonly Log[]; readonly through: bigint },
  to: number,
): bigint[] {
  if (through < to) throw new AppError('upstream_timeout')
  return logs.map(({ blockNumber }) => blockNumber)
}

/** Functions that read either from one host with dry runs, or from two agreeing hosts without dry runs. */
type Reads = {
  readonly request: Rpc
  readonly withDryRun: boolean
  readonly logsIn: (from: number, to: number) => Promise<unknown>
}

function readsByOne(hosts: readonly Host[]) {
  const { environment, urls, counts } = worldOf(hosts)
  const rpc = createRpc(urls, environment, { chainId: CHAIN_ID })
  const logsIn = async (from: number, to: number) =>
    blocksOf(await readLogsUntil(rpc, FILTER, BigInt(from), BigInt(to), () => counts.requests > MAX_REQUESTS), to)
  return { request: rpc, withDryRun: true, logsIn, counts }
}

function readsByTwo(hosts: readonly Host[]) {
  const { environment, urls, counts } = worldOf(hosts)
  const reader = createAgreedReaders({ [CHAIN_ID]: urls }, environment)(CHAIN_ID)
  const logsIn = async (from: number, to: number) =>
    blocksOf(await reader.logsUntil(FILTER, BigInt(from), BigInt(to), () => counts.requests > MAX_REQUESTS), to)
  return { request: reader.request, withDryRun: false, logsIn, counts }
}

/** Reads like those of a wallet's requests: a contract call with a dry run, recent events, and old events. */
const REQUESTS: readonly ((reads: Reads) => Promise<unknown>)[] = [
  async ({ request, withDryRun }) => {
    const call = { method: 'eth_call', params: [{ to: CONTRACT, data: '0x' }, 'latest'] }
    const [value, header, dryRun] = await request([
      call,
      blockRequest('latest'),
      ...(withDryRun ? [simulationRequest(CONTRACT, [])] : []),
    ])
    if (withDryRun) parseResult(z.array(z.object({ calls: z.array(z.unknown()) })), dryRun)
    return [parseResult(HexText, value), parseResult(BlockHeader, header)]
  },
  ({ logsIn }) => logsIn(HEAD - 12_000, HEAD),
  ({ logsIn }) => logsIn(1_000, 12_000),
]
const RIGHT = await Promise.all(REQUESTS.map((ask) => ask(readsByOne([healthy]))))

/**
 * Sends all requests and returns their results. An error that blames the hosts gives the text "honest". Such an error
 * is allowed, but a wrong result is not.
 */
async function sendAll(reads: Reads) {
  const results: unknown[] = []
  for (const ask of REQUESTS) {
    results.push(
      await ask(reads).catch((error: unknown) => {
        if (error instanceof AppError && /^upstream_|^second_node_silent$/.test(error.code)) return 'honest'
        throw error
      }),
    )
  }
  return results
}

// Timeouts are a third of their normal length, so that the tests are faster. A deadline of 3 s lasts 1 s.
const timeout = AbortSignal.timeout.bind(AbortSignal)
beforeAll(() => {
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => timeout(Math.ceil(milliseconds / 3)))
})
afterAll(() => {
  vi.restoreAllMocks()
})

test('The tests have at least sixty kinds of failing hosts', () => {
  expect(KINDS.length).toBeGreaterThanOrEqual(60)
})

describe.concurrent('A read by one host', () => {
  test.for(KINDS)('is right or an honest error if its only host %s', async ([, start], { expect }) => {
    const results = await sendAll(readsByOne([start()]))
    expect(results.map((result, index) => (result === 'honest' ? RIGHT[index] : result))).toEqual(RIGHT)
  })

  const placements = KINDS.flatMap(([name, start]) => [
    [name, 'first of two', () => [start(), healthy]] as const,
    [name, 'second of two', () => [healthy, start()]] as const,
    [name, 'first of three', () => [start(), healthy, healthy]] as const,
    [name, 'two of three', () => [start(), start(), healthy]] as const,
  ])
  test.for(placements)('is right with a healthy host while another %s (%s)', async ([, , hosts], { expect }) => {
    const reads = readsByOne(hosts())
    expect(await sendAll(reads)).toEqual(RIGHT)
    const learnt = reads.counts.requests
    for (let round = 0; round < 3; round += 1) expect(await sendAll(reads)).toEqual(RIGHT)
    // Three rounds of three reads need nine requests to a healthy host. Requests to the failing host may double that
    // number and add four.
    expect(reads.counts.requests - learnt).toBeLessThanOrEqual(2 * 9 + 4)
  })
})

describe.concurrent('A read by two hosts', () => {
  const placements = KINDS.flatMap(([name, start]) =>
    [0, 1, 2].map((place) => [name, place, () => [healthy, healthy, healthy].with(place, start())] as const),
  )
  test.for(placements)('is right while one of three hosts %s (place %i)', async ([, , hosts], { expect }) => {
    const reads = readsByTwo(hosts())
    for (let round = 0; round < 2; round += 1) expect(await sendAll(reads)).toEqual(RIGHT)
  })
})
