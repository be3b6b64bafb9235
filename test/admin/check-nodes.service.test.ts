import { numberToHex, pad } from 'viem'
import { test as base, expect } from 'vitest'
import { checkNodes } from '../../admin/check-nodes.ts'
import { startChain } from '../../sandbox/chains.ts'
import { NODE_PROFILES, type NodeProfileName } from '../../sandbox/node-profiles.ts'
import { type Node, startNode } from '../../sandbox/nodes.ts'
import { callRpc } from '../../sandbox/rpc.ts'

const BASE = 8453

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('chain', { scope: 'file' }, async ({}, { onCleanup }) => {
    const chain = await startChain({ chainId: BASE })
    onCleanup(chain.stop)
    // The chain has 600 blocks in 200 minutes. Most of the tested nodes do not return events of so many blocks.
    await callRpc(chain, [{ method: 'anvil_mine', params: [numberToHex(600), numberToHex(20)] }])
    return chain
  })
  /** Runs `check-nodes` on nodes with these profiles. Returns the command's output, its progress messages and the number of requests. */
  .extend('check', ({ chain }, { onCleanup }) => {
    const nodes: Node[] = []
    onCleanup(async () => {
      await Promise.all(nodes.map(({ stop }) => stop()))
    })
    return async (...names: NodeProfileName[]) => {
      nodes.push(...(await Promise.all(names.map((name) => startNode(NODE_PROFILES[name], chain.rpcUrl)))))
      const [head] = await callRpc(chain, [{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
      const said: string[] = []
      let requests = 0
      const lines = await checkNodes({
        chainIds: [BASE],
        urlsOf: async () => nodes.map(({ url }) => `${url}/v2/secret-key`),
        fetch: (...request) => {
          requests += 1
          return fetch(...request)
        },
        now: () => Number((head as { timestamp: string }).timestamp) * 1000,
        say: (line) => said.push(line),
      })
      return { text: lines.join('\n'), said: said.join('\n'), requests }
    }
  })

test('A node without limits is reported only by its host, and the operator sees the progress', async ({ check }) => {
  const { text, said, requests } = await check('quicknode')
  expect(text).toMatch(/^Base \(8453\)\n {2}1\. 127\.0\.0\.1:\d+\n/)
  expect(text).toMatch(/head 0 s old, (safe|finalized) \d+ (s|minutes) old, \d+ ms/)
  expect(text).toContain(
    '100 calls a request, events of 10000 blocks a call, of the whole past, states of the last 60 minutes at least, state overrides, simulation',
  )
  expect(text).not.toContain('WRONG CHAIN')
  expect(text).toMatch(/FAIL: only 1 host can be used/)
  expect(text + said).not.toContain('secret-key')
  expect(said).toMatch(/^Asking the nodes of 1 chain, at most 57 requests to each URL, 114 where it limits them/)
  expect(said).toContain('Solana is not asked')
  expect(said).toMatch(/Base: 127\.0\.0\.1:\d+ …/)
  expect(requests).toBeLessThanOrEqual(12)
})

test.for<[NodeProfileName, readonly (string | RegExp)[]]>([
  ['base.org', ['10 calls a request', 'events of 500 blocks a call, of the whole past']],
  [
    'publicnode',
    [
      '100 calls a request',
      'events of 100 blocks a call, of less than 60 minutes',
      'states of less than 60 minutes',
      'older than 60 minutes cannot be read',
    ],
  ],
  [
    'drpc-free',
    ['3 calls a request', 'no state overrides', 'Each reading takes several requests', 'about ten calls more'],
  ],
  ['alchemy-free', ['events of 10 blocks a call', /A year of the past takes \d+ calls/]],
  ['quicknode-trial', ['events of 5 blocks a call']],
  ['no-batches', ['no batches', 'Each reading takes several requests']],
  ['no-logs', ['no events', 'Positions and history of vaults cannot be read']],
  ['no-simulation', ['no simulation', 'without having been tried']],
  ['rate-limited', ['100 calls a request', 'events of 10000 blocks a call', 'simulation']],
  ['behind', ['head 100 s old', 'as old as its head']],
  ['wrong-chain', ['WRONG CHAIN: it is chain 8454, not 8453']],
  ['redirecting', ['DOES NOT ANSWER: HTTP status 307']],
])('The report on %s has the node’s limits and their consequences', async ([name, expectedParts], { check }) => {
  const { text } = await check(name)
  for (const part of expectedParts) expect(text).toMatch(part instanceof RegExp ? part : literally(part))
})

test('A node that refuses nearly everything gets no more requests than announced', async () => {
  const head = { number: numberToHex(100_000_000), timestamp: numberToHex(2_000_000_000), hash: pad('0x1') }
  let requests = 0
  await checkNodes({
    chainIds: [BASE],
    urlsOf: async () => ['https://node.example'],
    fetch: async (_, init) => {
      requests += 1
      const { method, params } = JSON.parse(String(init?.body))
      const isOfHead =
        method === 'eth_getLogs' && params[0].fromBlock === params[0].toBlock && params[0].toBlock === head.number
      const results: Record<string, unknown> = { eth_chainId: numberToHex(BASE), eth_getBlockByNumber: head }
      const result = isOfHead ? [] : results[method]
      return Response.json(result ? { result } : { error: { code: -32_601 } })
    },
    now: () => 2_000_000_000_000,
    say: () => {},
  })
  expect(requests).toBeGreaterThan(35)
  expect(requests).toBeLessThanOrEqual(57)
})

test('Two nodes are reported one after the other, including a failing one', async ({ check }) => {
  const { text } = await check('redirecting', 'quicknode')
  expect(text).toMatch(/1\. .*DOES NOT ANSWER.* 2\. .*head/s)
  expect(text).toMatch(/FAIL: only 1 host can be used/)
})

test('Two hosts that agree pass', async ({ check }) => {
  const { text } = await check('quicknode', 'plain')
  // Both nodes run on this machine. A different port counts as a different host.
  expect(text).toMatch(/^ {2}PASS: 2 hosts agree at block \d+$/m)
})

test('Two hosts fail if one lags further than the service waits', async ({ check }) => {
  const { text } = await check('quicknode', 'behind')
  expect(text).toMatch(/^ {2}FAIL: 127\.0\.0\.1:\d+ is 100 s behind$/m)
})

test('Two hosts that contradict each other fail with their difference', async ({ check }) => {
  const { text } = await check('plain', 'lying')
  expect(text).toMatch(/FAIL: 127\.0\.0\.1:\d+ and 127\.0\.0\.1:\d+ differ in the hash of block \d+/)
})

test.for<[readonly NodeProfileName[], string]>([
  [['plain', 'no-logs'], 'only 1 host returns events'],
  [['plain', 'publicnode'], 'only 1 host returns events of the last 60 minutes'],
])('A chain with %s fails: %s', async ([names, reason], { check }) => {
  const { text } = await check(...names)
  expect(text).toMatch(new RegExp(`FAIL: ${reason}`))
})

function literally(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
}
