import { encodeFunctionData, type Hex, numberToHex, parseAbi } from 'viem'
import { test as base, describe, expect } from 'vitest'
import { ACCOUNTS } from '../../sandbox/accounts.ts'
import { MULTICALL3, startChain } from '../../sandbox/chains.ts'
import { NODE_PROFILES, type NodeProfileName } from '../../sandbox/node-profiles.ts'
import { type Node, startNode } from '../../sandbox/nodes.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { transact } from '../../sandbox/transactions.ts'

type Reply = { readonly status: number; readonly headers: Headers; readonly body: unknown }

/** Block number that the local chain has and that lies within each simulated node's archive limit. */
const HEAD = 150

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('chain', { scope: 'file' }, async ({}, { onCleanup }) => {
    const chain = await startChain({ chainId: 8453 })
    onCleanup(chain.stop)
    await callRpc(chain, [{ method: 'anvil_mine', params: [numberToHex(HEAD)] }])
    return chain
  })
  /** Starts a simulated node with a provider's limits. Returns a function that posts requests to the node. */
  .extend('open', ({ chain }, { onCleanup }) => {
    const nodes: Node[] = []
    onCleanup(async () => {
      await Promise.all(nodes.map(({ stop }) => stop()))
    })
    return async (name: NodeProfileName) => {
      const node = await startNode(NODE_PROFILES[name], chain.rpcUrl)
      nodes.push(node)
      return async (body: unknown): Promise<Reply> => {
        const text = typeof body === 'string' ? body : JSON.stringify(body)
        const headers = { 'content-type': 'application/json' }
        const response = await fetch(node.url, { method: 'POST', headers, body: text, redirect: 'manual' })
        const answer = await response.text()
        const isJson = response.headers.get('content-type') === 'application/json'
        return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(answer) : answer }
      }
    }
  })

const call = (method: string, params: readonly unknown[] = [], id: unknown = 7) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
const chainId = call('eth_chainId')
const batchOf = (calls: number) => Array.from({ length: calls }, (_, id) => call('eth_chainId', [], id))
const events = (from: number, to: number) =>
  call('eth_getLogs', [{ fromBlock: numberToHex(from), toBlock: numberToHex(to) }])
const refused = (code: number, message: unknown, id: unknown = null) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})
const EMPTY = { jsonrpc: '2.0', id: 7, result: [] }

const abi = parseAbi([
  'function getBlockNumber() view returns (uint256)',
  'function getEthBalance(address) view returns (uint256)',
])
const view = (functionName: 'getBlockNumber' | 'getEthBalance', block: string | number, ...args: Hex[]) => {
  const data = encodeFunctionData({ abi, functionName, args } as never)
  return call('eth_call', [{ to: MULTICALL3, data }, typeof block === 'number' ? numberToHex(block) : block])
}
const word = (value: number | bigint) => numberToHex(value, { size: 32 })

describe('A batch with more calls than the node’s limit is refused', () => {
  test.for<[NodeProfileName, number, unknown[]]>([
    [
      'base.org',
      10,
      [
        { status: 200, body: refused(-32014, 'maximum 10 calls in 1 batch') },
        { status: 413, body: refused(-32014, 'maximum 10 calls in 1 batch') },
      ],
    ],
    ['optimism.io', 10, [{ status: 413, body: refused(-32014, 'over maximum batch size: 10') }]],
    ['publicnode', 100, [{ status: 400, body: refused(-32600, 'batch size is too large, maximum 100') }]],
    [
      'drpc-free',
      3,
      [
        {
          status: 500,
          body: [0, 1, 2, 3].map((id) => refused(31, expect.stringContaining('not allowed on free tier'), id)),
        },
        { status: 500, body: refused(31, expect.stringContaining('Batch of more than 3 requests')) },
        { status: 500, body: { code: 31, message: expect.stringContaining('Batch of more than 3 requests') } },
      ],
    ],
    [
      'no-batches',
      0,
      [{ status: 403, body: refused(-32403, expect.stringContaining('only available for paid plans')) }],
    ],
  ])('by %s above %d', async ([name, most, refusals], { open }) => {
    const post = await open(name)
    for (const refusal of refusals) expect(await post(batchOf(most + 1))).toMatchObject(refusal as object)
    if (most > 0) expect(await post(batchOf(most))).toMatchObject({ status: 200, body: { length: most } })
    expect(await post(chainId)).toMatchObject({ status: 200, body: { id: 7, result: numberToHex(8453) } })
  })
})

describe('Events of more blocks than the node’s limit are refused', () => {
  test.for<[NodeProfileName, number, object, number | undefined]>([
    ['base.org', 500, refused(-32614, 'eth_getLogs is limited to a 500 range', 7), 413],
    ['publicnode', 50_000, refused(-32701, 'exceed maximum block range: 50000', 7), 200],
    ['drpc-free', 10_000, refused(35, 'ranges over 10000 blocks are not supported on freetier', 7), 400],
    ['alchemy-free', 9, refused(-32600, expect.stringContaining('up to a 10 block range'), 7), 400],
    ['quicknode', 10_000, refused(-32614, 'eth_getLogs is limited to a 10,000 range', 7), 413],
    ['quicknode-trial', 5, refused(-32615, expect.stringContaining('limited to a 5 range'), 7), 413],
  ])('by %s above a difference of %d, in a batch too', async ([name, most, body, status], { open }) => {
    const post = await open(name)
    const from = HEAD - 100
    expect(await post(events(from, from + most + 1))).toMatchObject({ status, body })
    expect(await post(events(from, from + most))).toMatchObject({ status: 200, body: EMPTY })

    const mixed = await post([chainId, events(from, from + most + 1)])
    // The batch contains a call that every node refuses. Some nodes refuse only this call, with status 200. The other
    // nodes refuse the whole batch.
    if (status === 200) expect(mixed).toMatchObject({ status, body: [{ result: '0x2105' }, body] })
    else expect(mixed).toMatchObject({ status, body: { ...body, id: null } })
  })

  test('by a node that serves no events', async ({ open }) => {
    const post = await open('no-logs')
    expect(await post(events(HEAD, HEAD))).toMatchObject({ status: 200, body: refused(-32005, 'limit exceeded', 7) })
  })
})

test('PublicNode refuses states and events that are older than 128 blocks, and serves younger ones', async ({
  open,
}) => {
  const post = await open('publicnode')
  const refusal = {
    status: 403,
    body: refused(-32602, expect.stringMatching(/^Archive requests require a personal token/), 7),
  }
  expect(await post(events(HEAD - 129, HEAD))).toMatchObject(refusal)
  expect(await post(view('getBlockNumber', HEAD - 129))).toMatchObject(refusal)
  expect(await post(events(HEAD - 128, HEAD))).toMatchObject({ status: 200, body: EMPTY })
  expect(await post(view('getBlockNumber', HEAD - 128))).toMatchObject({ body: { result: word(HEAD - 128) } })
})

test("dRPC's free plan refuses state overrides, also in a batch", async ({ open }) => {
  const post = await open('drpc-free')
  const overridden = call('eth_call', [{ to: MULTICALL3 }, 'latest', { [MULTICALL3]: { code: '0x5f5ff3' } }])
  const error = { code: 35, message: expect.stringContaining('state override') }
  expect(await post(overridden)).toMatchObject({ status: 400, body: { id: 7, error } })
  expect(await post([chainId, overridden])).toMatchObject({ status: 400, body: { id: null, error } })
})

test('base.org fails single calls now and then, while it serves the rest of their batch', async ({ open }) => {
  const post = await open('base.org')
  const replies = await Promise.all(Array.from({ length: 3 }, () => post(batchOf(10))))
  const answers = replies.flatMap(({ body }) => body as { error?: object; result?: string }[])
  expect(answers.filter(({ result }) => result === '0x2105')).toHaveLength(29)
  const error = { code: -32011, message: 'no backend is currently healthy to serve traffic' }
  expect(answers.filter((answer) => answer.error)).toMatchObject([{ error }])
})

test('A node without simulation does not know the method or crashes in it', async ({ open }) => {
  const post = await open('no-simulation')
  const simulation = call('eth_simulateV1', [{ blockStateCalls: [] }, 'latest'])
  const unknown = refused(-32601, 'the method eth_simulateV1 does not exist/is not available', 7)
  expect(await post(simulation)).toMatchObject({ status: 200, body: unknown })
  expect(await post([simulation])).toMatchObject({ status: 200, body: [refused(-32603, 'method handler crashed', 7)] })
})

test('A lagging node has an older head and does not know newer blocks', async ({ chain, open }) => {
  const [hash = '0x'] = await transact(chain, [
    { label: 'nothing', from: ACCOUNTS.users[0].address, to: ACCOUNTS.users[1].address, data: '0x' },
  ])
  const [block] = (await callRpc(chain, [{ method: 'eth_blockNumber', params: [] }])) as [Hex]
  const post = await open('behind')
  const head = Number(block) - 5

  expect(await post(call('eth_blockNumber'))).toMatchObject({ body: { result: numberToHex(head) } })
  for (const [tag, depth] of Object.entries({ latest: 0, safe: 2, finalized: 4 })) {
    const header = { number: numberToHex(head - depth) }
    expect(await post(call('eth_getBlockByNumber', [tag, false]))).toMatchObject({ body: { result: header } })
  }
  expect(await post(view('getBlockNumber', 'latest'))).toMatchObject({ body: { result: word(head) } })
  expect(await post(view('getBlockNumber', head + 1))).toMatchObject({ body: refused(-32000, 'header not found', 7) })
  expect(await post(events(head - 1, head + 5))).toMatchObject({ body: refused(-32000, 'header not found', 7) })
  for (const method of ['eth_getTransactionReceipt', 'eth_getTransactionByHash']) {
    expect(await post(call(method, [hash]))).toMatchObject({ body: { result: null } })
  }
})

test('optimism.io answers the calls of one batch at two heads', async ({ chain, open }) => {
  const [block] = (await callRpc(chain, [{ method: 'eth_blockNumber', params: [] }])) as [Hex]
  const post = await open('optimism.io')
  const { body } = await post([view('getBlockNumber', 'latest'), view('getBlockNumber', 'latest')])
  expect(body).toMatchObject([{ result: word(Number(block)) }, { result: word(Number(block) - 2) }])
})

test('A rate limit is a 429 with Retry-After', async ({ open }) => {
  const post = await open('rate-limited')
  const replies: Reply[] = []
  for (let request = 0; request < 6; request += 1) replies.push(await post(chainId))
  expect(replies[3]?.status).toBe(200)
  expect(replies[5]?.status).toBe(429)
  expect(replies[5]?.headers.get('retry-after')).toBe('2')
})

test('A redirecting node names the URL that would respond', async ({ chain, open }) => {
  const { status, headers } = await (await open('redirecting'))(chainId)
  expect([status, headers.get('location')]).toEqual([307, chain.rpcUrl])
})

test('A node of another chain reports that chain’s id', async ({ open }) => {
  const post = await open('wrong-chain')
  expect(await post(chainId)).toMatchObject({ body: { result: numberToHex(8454) } })
})

test('A lying node doubles an amount, hides events, fails a transaction and invents blocks', async ({
  chain,
  open,
}) => {
  const [hash = '0x'] = await transact(chain, [
    { label: 'nothing', from: ACCOUNTS.users[0].address, to: ACCOUNTS.users[1].address, data: '0x' },
  ])
  const post = await open('lying')
  const richest = ACCOUNTS.users[2].address
  const [truth] = (await callRpc(chain, [{ method: 'eth_getBalance', params: [richest, 'latest'] }])) as [Hex]
  const balance = view('getEthBalance', 'latest', richest)
  expect(await post(balance)).toMatchObject({ body: { result: word(2n * BigInt(truth)) } })
  const receipt = call('eth_getTransactionReceipt', [hash])
  expect(await post(receipt)).toMatchObject({ body: { result: { status: '0x0', logs: [] } } })
  const { body } = await post(call('eth_getBlockByNumber', ['latest', false]))
  expect(Number((body as { result: { number: Hex } }).result.number)).toBeGreaterThan(100_000)
})

test('No node takes a body over 2 MiB or gives a call more than 50 million gas', async ({ open }) => {
  const post = await open('quicknode')
  expect(await post(' '.repeat(2 * 1024 * 1024 + 1))).toMatchObject({ status: 413 })
  // The state override replaces Multicall3 by a program that returns the remaining gas.
  const gasLeft = (gas?: Hex) =>
    call('eth_call', [{ to: MULTICALL3, gas }, 'latest', { [MULTICALL3]: { code: '0x5a5f5260205ff3' } }])
  for (const gas of [undefined, numberToHex(100_000_000)]) {
    const { body } = await post(gasLeft(gas))
    expect(Number((body as { result: Hex }).result)).toBeGreaterThan(49_000_000)
    expect(Number((body as { result: Hex }).result)).toBeLessThan(50_000_000)
  }
})
