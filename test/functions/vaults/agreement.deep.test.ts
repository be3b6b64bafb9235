import { type Hex, numberToHex, pad, size, stringify } from 'viem'
import { describe, expect, onTestFinished } from 'vitest'
import type { LocalChain } from '../../../sandbox/chains.ts'
import { NODE_PROFILES, type NodeProfileName } from '../../../sandbox/node-profiles.ts'
import { startNode } from '../../../sandbox/nodes.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import {
  BLOCK_NUMBER_SELECTOR,
  BLOCK_TIME_SELECTOR,
  createReturnDataChange,
  type ResultChange,
  rewriteResults,
} from '../../support/chain-answers.ts'
import { createDepositJourney } from '../../support/cross-chain.ts'
import { expectError } from '../../support/errors.ts'
import { overrideStorage, readStateChanges, type StorageOverrides } from '../../support/lies.ts'
import { captureLogs } from '../../support/logs.ts'
import { test as base, type HttpReply, type Service, startNewContainers, USERS } from '../../support/service.ts'
import { openLagoonVault, openYieldVault, ROLES } from '../../support/vaults.ts'
import { type ProxyBehaviour, type RecordingProxy, startRecordingProxy } from '../../support/wire.ts'

const [ALICE, BOB] = USERS
const BASE = 8453
const ARBITRUM = 42161

/**
 * Requests whose replies contain transactions to sign. The service prepares them only from data on which two nodes
 * agree.
 */
const ENDPOINTS = [
  'deposit',
  'synchronous deposit',
  'cross-chain deposit',
  'withdrawal',
  'withdrawal of everything',
  'synchronous withdrawal',
  'withdrawal to another chain',
  'withdrawal of everything to another chain',
  'claim',
  'claim of a withdrawal',
  'claim to another chain',
  'cancellation',
] as const
type Endpoint = (typeof ENDPOINTS)[number]
type Replies = Readonly<Record<Endpoint, HttpReply>>

/** False data from one node. Each row names the requests whose transactions the false data would change. */
const LIES: readonly (readonly [lie: string, bites: readonly Endpoint[]])[] = [
  ['the vault is paused', ['deposit', 'withdrawal', 'claim', 'claim of a withdrawal', 'cancellation']],
  ['the vault is closing', ['deposit', 'withdrawal']],
  ['the vault may take everything from the user', ['deposit']],
  ['the user has claimed a part of the deposit', ['claim']],
  ['the user has claimed a part of the withdrawal', ['claim of a withdrawal', 'claim to another chain']],
  ['the user has sent the shares away', ['withdrawal', 'withdrawal of everything']],
  [
    'the user has sent the savings away',
    ['synchronous withdrawal', 'withdrawal to another chain', 'withdrawal of everything to another chain'],
  ],
  ['the savings may take everything from the user', ['synchronous deposit']],
  ['pending requests are settled', ['cancellation']],
  ['the vault gains by a settlement', ['withdrawal', 'withdrawal of everything']],
]

async function prepare(service: Service) {
  const vault = await openLagoonVault(service, { generation: '0.5' })
  const units = (whole: string) => vault.units(whole)
  await vault.request(ALICE.address, units('500'))
  await vault.settle()
  await vault.act(ALICE.address, 'deposit', units('300'), ALICE.address, ALICE.address)
  await vault.act(ALICE.address, 'requestRedeem', 50n * 10n ** 18n, ALICE.address, ALICE.address)
  await vault.settle()
  await vault.request(BOB.address, units('5'))

  const savings = await openYieldVault(service)
  await savings.mint(ALICE.address, units('100'))
  await savings.approve(ALICE.address, units('100'))
  await savings.act(ALICE.address, 'deposit', units('100'), ALICE.address)
  const vaults = [vault, savings].map(({ address }) => ({ chainId: BASE, address }))
  const key = await service.createClient(vaults)

  const { act } = vault
  const acts: Readonly<Record<string, () => Promise<unknown>>> = {
    'the vault is paused': () => act(ROLES.admin, 'pause'),
    'the vault is closing': () => act(ROLES.admin, 'initiateClosing'),
    'the vault may take everything from the user': () => vault.approve(ALICE.address, 2n ** 200n),
    'the user has claimed a part of the deposit': () =>
      act(ALICE.address, 'deposit', units('70'), ALICE.address, ALICE.address),
    'the user has claimed a part of the withdrawal': () =>
      act(ALICE.address, 'redeem', 10n ** 18n, ALICE.address, ALICE.address),
    'the user has sent the shares away': () => act(ALICE.address, 'transfer', BOB.address, 249n * 10n ** 18n),
    'the user has sent the savings away': () => savings.act(ALICE.address, 'transfer', BOB.address, units('90')),
    'the savings may take everything from the user': () => savings.approve(ALICE.address, 2n ** 200n),
    'pending requests are settled': () => vault.settle(),
    'the vault gains by a settlement': () => vault.settle(units('9')),
  }
  const lies: Record<string, StorageOverrides> = {}
  for (const [name, run] of Object.entries(acts)) lies[name] = await readStateChanges(vault.chain, run)

  const journey = createDepositJourney(vault, service)
  const of = { vaultAddress: vault.address, userAddress: ALICE.address }
  const ofSavings = { ...of, vaultAddress: savings.address }
  const there = { dstChainId: ARBITRUM, dstToken: journey.token.address }
  const path = (name: string) => `/defi-vaults/v1/defi/vault/${name}`
  const requests: Readonly<Record<Endpoint, readonly [path: string, body: object]>> = {
    deposit: [path('deposit'), { ...of, amount: '1000000' }],
    'synchronous deposit': [path('deposit'), { ...ofSavings, amount: '1000000' }],
    'cross-chain deposit': [
      path('deposit'),
      { ...of, amount: '50000000', srcChainId: ARBITRUM, srcToken: journey.token.address },
    ],
    withdrawal: [path('withdraw'), { ...of, shares: `${2n * 10n ** 18n}` }],
    'withdrawal of everything': [path('withdraw'), { ...of, max: true }],
    'synchronous withdrawal': [path('withdraw'), { ...ofSavings, amount: '20000000' }],
    'withdrawal to another chain': [path('withdraw'), { ...ofSavings, amount: '20000000', ...there }],
    'withdrawal of everything to another chain': [path('withdraw'), { ...ofSavings, max: true, ...there }],
    claim: [path('claim'), of],
    'claim of a withdrawal': [path('claim'), { ...of, kind: 'withdrawal' }],
    'claim to another chain': [path('claim'), { ...of, kind: 'withdrawal', ...there }],
    cancellation: [path('cancel'), { ...of, userAddress: BOB.address }],
  }
  const truth: Replies | undefined = undefined
  return {
    vault,
    key,
    lies,
    truth: truth as Replies | undefined,
    /**
     * Requests are sent one after another by default. In parallel, a busy machine would exceed the time limit for
     * nodes.
     */
    async ask(by: Service, { atOnce = false, only = ENDPOINTS as readonly Endpoint[] } = {}): Promise<Replies> {
      const replies: Partial<Record<Endpoint, Promise<HttpReply>>> = {}
      for (const endpoint of only) {
        const [path, body] = requests[endpoint]
        const asking = by.call('POST', path, { key, body })
        replies[endpoint] = asking
        if (!atOnce) await asking
      }
      const entries = await Promise.all(only.map(async (endpoint) => [endpoint, await replies[endpoint]]))
      return Object.fromEntries(entries)
    },
  }
}

/** Returns the transactions or the error of a reply as text. Values that depend on the time are left out. */
function textOfTransactions({ status, body }: HttpReply): string {
  if (status !== 200) return `${status} ${body.code}`
  const { approval, operations, claimable, cancelled, withdrawal, isCrossChain } = body
  // Calldata for the bridge contains times, so only function selectors are compared for transfers between chains.
  const data = isCrossChain ? operations.map(({ data }: { data: string }) => data.slice(0, 10)) : operations
  return stringify({ approval, data, claimable, cancelled, withdrawal })
}

type NodeUrl = { readonly url: string }

const test = base
  .extend('stage', { scope: 'file' }, ({ sharedService }) => prepare(sharedService))
  .extend('honest', ({ service }) => service.rpc[BASE] as RecordingProxy)
  .extend('other', async ({ service }, { onCleanup }) => {
    const wire = await startRecordingProxy(service.backends.chains[0]?.rpcUrl as string)
    onCleanup(wire.stop)
    return wire
  })
  .extend('third', async ({ service }, { onCleanup }) => {
    const wire = await startRecordingProxy(service.backends.chains[0]?.rpcUrl as string)
    onCleanup(wire.stop)
    return wire
  })
  .extend('reading', ({ service }, { onCleanup }) => {
    const stops: (() => Promise<void>)[] = []
    onCleanup(async () => {
      for (const pinHead of stops) await pinHead()
    })
    return async (...nodes: [NodeUrl, ...NodeUrl[]]) => {
      const [first, ...others] = nodes.map(({ url }) => url)
      const arbitrum = service.rpc[ARBITRUM] as RecordingProxy
      service.backends.setRpcUrls({ [BASE]: [first as string, ...others], [ARBITRUM]: [arbitrum.url] })
      const cold = await startNewContainers(service)
      stops.push(cold.stop)
      return cold.service
    }
  })
  .extend('truth', async ({ stage, reading, honest }) => {
    stage.truth ??= await stage.ask(await reading(honest))
    return stage.truth
  })

describe('A node that claims that', () => {
  test.for(LIES.map(([name, bites], index) => [name, bites, index % 2] as const))(
    '%s makes the service return no transaction',
    async ([name, bites, place], { stage, truth, reading, honest, other }) => {
      overrideStorage(other, stage.lies[name] as StorageOverrides)
      const believed = await stage.ask(await reading(other), { only: bites })
      for (const endpoint of bites)
        expect(textOfTransactions(believed[endpoint])).not.toBe(textOfTransactions(truth[endpoint]))

      const hosts: [NodeUrl, NodeUrl] = place === 0 ? [honest, other] : [other, honest]
      const replies = await stage.ask(await reading(...hosts))
      for (const endpoint of ENDPOINTS) {
        if (replies[endpoint].status === 200 && !bites.includes(endpoint)) {
          expect([endpoint, textOfTransactions(replies[endpoint])]).toEqual([
            endpoint,
            textOfTransactions(truth[endpoint]),
          ])
        } else expectError(replies[endpoint], 'nodes_disagree')
      }
    },
  )
})

/** Makes a node answer as one that has no `eth_simulateV1`. */
function refuseSimulations(wire: RecordingProxy): void {
  wire.rewrite = (answer, request) => {
    const calls: readonly { id: number; method: string }[] = JSON.parse(request)
    const simulations = new Set(calls.flatMap(({ id, method }) => (method === 'eth_simulateV1' ? [id] : [])))
    const items: readonly { id: number }[] = JSON.parse(answer)
    const error = { code: -32_601, message: 'the method eth_simulateV1 does not exist' }
    return JSON.stringify(
      items.map((item) => (simulations.has(item.id) ? { jsonrpc: '2.0', id: item.id, error } : item)),
    )
  }
}

/** Makes a node multiply, in its simulations, each token amount that Alice receives. */
function multiplyPayments(wire: RecordingProxy, factor: bigint): void {
  const toAlice = pad(ALICE.address).toLowerCase()
  rewriteResults(wire, (result, { method }) => {
    if (method !== 'eth_simulateV1') return result
    for (const log of (result as SimulatedBlocks).flatMap(({ calls }) => calls.flatMap(({ logs = [] }) => logs))) {
      if (log.topics[2] === toAlice && size(log.data) === 32)
        log.data = numberToHex(BigInt(log.data) * factor, { size: 32 })
    }
    return result
  })
}
type SimulatedBlocks = readonly { calls: readonly { logs?: { topics: readonly Hex[]; data: Hex }[] }[] }[]

test('A node that lies in its simulations cannot raise the amount sent to another chain, if no other node simulates', async ({
  stage,
  truth,
  reading,
  honest,
  other,
}) => {
  const only = ['withdrawal of everything to another chain', 'claim to another chain'] as const
  refuseSimulations(honest)
  multiplyPayments(other, 5n)
  const replies = await stage.ask(await reading(honest, other), { only })
  for (const endpoint of only) {
    expect(replies[endpoint]).toMatchObject({ status: 200 })
    expect(replies[endpoint].body.quote.inputAmount).toBe(truth[endpoint].body.quote.inputAmount)
  }
})

function expectTruth(replies: Replies, truth: Replies) {
  // Requests that were not sent have no reply and are skipped.
  for (const endpoint of Object.keys(replies) as Endpoint[]) {
    expect([endpoint, textOfTransactions(replies[endpoint])]).toEqual([endpoint, textOfTransactions(truth[endpoint])])
  }
}

const SILENT: readonly ProxyBehaviour[] = [
  'refuse connections',
  'answer 429',
  'answer 500',
  'never answer',
  'answer nonsense',
]

describe('When one of two nodes is to', () => {
  test.for(SILENT.map((behaviour, index) => [behaviour, index % 2] as const))(
    '%s, no transaction is returned, whatever the other one claims',
    async ([behaviour, place], { stage, reading, honest, other }) => {
      overrideStorage(other, stage.lies['the vault may take everything from the user'] as StorageOverrides)
      const hosts: [NodeUrl, NodeUrl] = place === 0 ? [honest, other] : [other, honest]
      const service = await reading(...hosts)
      honest.behaviour = behaviour
      const replies = await stage.ask(service, { atOnce: true })
      for (const endpoint of ENDPOINTS) expectError(replies[endpoint], 'second_node_silent')
    },
  )
})

const BUSIEST_ENDPOINTS = ['cross-chain deposit', 'withdrawal of everything', 'claim'] as const

describe('Of three nodes', () => {
  test('two that agree suffice while one does not respond', async ({ stage, truth, reading, honest, other, third }) => {
    const service = await reading(honest, other, third)
    for (const silent of [honest, other, third]) {
      silent.behaviour = 'answer 500'
      expectTruth(await stage.ask(service, { only: BUSIEST_ENDPOINTS }), truth)
      silent.behaviour = 'pass'
    }
  })

  test('one that lies is not outvoted, and no transaction is returned', async ({
    stage,
    reading,
    honest,
    other,
    third,
  }) => {
    overrideStorage(other, stage.lies['the vault may take everything from the user'] as StorageOverrides)
    third.behaviour = 'answer 500'
    const { deposit } = await stage.ask(await reading(third, other, honest), { only: ['deposit'] })
    expectError(deposit, 'nodes_disagree')
  })
})

async function revertAfterTest(chain: LocalChain) {
  const [snapshot] = await callRpc(chain, [{ method: 'evm_snapshot', params: [] }])
  onTestFinished(async () => {
    await callRpc(chain, [{ method: 'evm_revert', params: [snapshot] }])
  })
}

describe('A node slightly behind is no contradiction', () => {
  test.for<[NodeProfileName, number]>([
    ['behind', 0],
    ['optimism.io', 1],
  ])('for a node such as %s', async ([name, place], { stage, reading, honest }) => {
    const { chain } = stage.vault
    await revertAfterTest(chain)
    await callRpc(chain, [{ method: 'anvil_mine', params: [numberToHex(10)] }])
    const truth = await stage.ask(await reading(honest))
    const node = await startNode(NODE_PROFILES[name], chain.rpcUrl)
    onTestFinished(node.stop)
    const hosts: [NodeUrl, NodeUrl] = place === 0 ? [honest, node] : [node, honest]
    expectTruth(await stage.ask(await reading(...hosts)), truth)
  })

  test('although the vault has changed since its block', async ({ stage, reading, honest }) => {
    const { chain } = stage.vault
    await revertAfterTest(chain)
    await callRpc(chain, [{ method: 'anvil_mine', params: [numberToHex(10)] }])
    await stage.vault.approve(ALICE.address, 2n ** 200n)
    const node = await startNode(NODE_PROFILES.behind, chain.rpcUrl)
    onTestFinished(node.stop)
    const replies = await stage.ask(await reading(honest, node))
    for (const endpoint of ENDPOINTS) expect([endpoint, replies[endpoint].body.code]).toEqual([endpoint, undefined])
  })
})

function stop(wire: RecordingProxy, head: unknown) {
  wire.rewriteRequest = (body) => body.replaceAll('"latest"', JSON.stringify(head))
}

describe('A node that is more than some seconds behind', () => {
  test.for([
    [7, 0],
    [59, 1],
    [200, 0],
  ] as const)('(%i s) counts as not responding', async ([seconds, place], { stage, reading, honest, other, third }) => {
    const { chain } = stage.vault
    await revertAfterTest(chain)
    const [head] = await callRpc(chain, [{ method: 'eth_blockNumber', params: [] }])
    await callRpc(chain, [{ method: 'evm_increaseTime', params: [seconds] }])
    await stage.vault.act(ROLES.admin, 'pause')
    stop(other, head)
    const hosts: [RecordingProxy, RecordingProxy] = place === 0 ? [honest, other] : [other, honest]
    expectError((await stage.ask(await reading(...hosts), { only: ['deposit'] })).deposit, 'second_node_silent')
    expectError((await stage.ask(await reading(...hosts, third), { only: ['deposit'] })).deposit, 'vault_is_paused')
  })

  test.for([
    ['claims that its block is new', false],
    ['claims so and then does not know the block', true],
  ] as const)('contradicts the others if it %s', async ([, isForgetful], { stage, reading, honest, other }) => {
    const { chain } = stage.vault
    await revertAfterTest(chain)
    const [head] = await callRpc(chain, [{ method: 'eth_blockNumber', params: [] }])
    await callRpc(chain, [{ method: 'evm_increaseTime', params: [59] }])
    await stage.vault.act(ROLES.admin, 'pause')
    const [{ timestamp }] = (await callRpc(chain, [{ method: 'eth_getBlockByNumber', params: ['latest', false] }])) as [
      { timestamp: Hex },
    ]
    stop(other, head)
    const changeTime = withTime(timestamp)
    rewriteResults(other, (result, call) => (isForgetful && call.params[0] === head ? null : changeTime(result, call)))
    const { deposit } = await stage.ask(await reading(other, honest), { only: ['deposit'] })
    expectError(deposit, 'nodes_disagree')
  })
})

function withTime(timestamp: Hex): ResultChange {
  const changeTime = createReturnDataChange((data, selector, { params }) =>
    selector === BLOCK_TIME_SELECTOR && params[1] === 'latest' ? pad(timestamp) : data,
  )
  return (result, call) =>
    call.method === 'eth_getBlockByNumber' && call.params[0] === 'latest'
      ? { ...(result as object), timestamp }
      : changeTime(result, call)
}

function inventHead(wire: RecordingProxy, change: (number: bigint) => bigint) {
  const changeBlock = (number: Hex) => change(BigInt(number))
  const changeNumber = createReturnDataChange((data, selector, { params }) =>
    selector === BLOCK_NUMBER_SELECTOR && params[1] === 'latest' ? numberToHex(changeBlock(data), { size: 32 }) : data,
  )
  rewriteResults(wire, (result, call) => {
    if (call.method !== 'eth_getBlockByNumber' || call.params[0] !== 'latest') return changeNumber(result, call)
    const header = result as { number: Hex }
    return { ...header, number: numberToHex(changeBlock(header.number)), hash: `0x${'66'.repeat(32)}` }
  })
}

describe('For a block that a node invented', () => {
  test.for([0, 1])(
    "no transaction is returned if it is the chain's first",
    async (place, { stage, reading, honest, other }) => {
      const { chain } = stage.vault
      await revertAfterTest(chain)
      await callRpc(chain, [{ method: 'anvil_mine', params: ['0x40'] }])
      inventHead(other, () => 1n)
      const hosts: [RecordingProxy, RecordingProxy] = place === 0 ? [other, honest] : [honest, other]
      const { deposit } = await stage.ask(await reading(...hosts), { only: ['deposit'] })
      // A local chain that was restored from a file has no first block. The service then cannot compare the nodes'
      // blocks, so either error is right.
      expect(['nodes_disagree', 'upstream_bad_answer']).toContain(deposit.body.code)
    },
  )

  test.for([
    [63, 0],
    [0, 0],
    [0, 1],
    [1, 0],
  ] as const)(
    '%i blocks before the head, transactions rest on a real block',
    async ([back, place], { stage, reading, honest, other }) => {
      const { chain } = stage.vault
      await revertAfterTest(chain)
      await callRpc(chain, [{ method: 'anvil_mine', params: [numberToHex(back + 3)] }])
      inventHead(other, (number) => number - BigInt(back))
      const hosts: [RecordingProxy, RecordingProxy] = place === 0 ? [other, honest] : [honest, other]
      const { deposit } = await stage.ask(await reading(...hosts), { only: ['deposit'] })
      expect(deposit.status).toBe(200)
      const [{ blockNumber, blockHash }] = deposit.body.evidence
      const [block] = await callRpc(chain, [
        { method: 'eth_getBlockByNumber', params: [numberToHex(blockNumber), false] },
      ])
      expect(block).toMatchObject({ hash: blockHash })
    },
  )
})

test('Nodes on two forks disagree if a relevant value differs, and agree after the reorganisation', async ({
  stage,
  truth,
  reading,
  honest,
  other,
}) => {
  const service = await reading(honest, other)
  overrideStorage(other, stage.lies['the vault is paused'] as StorageOverrides)
  const fork = `0x${'f0'.repeat(32)}`
  rewriteResults(other, (result, { method }) =>
    method === 'eth_getBlockByNumber' ? { ...(result as object), hash: fork } : result,
  )
  expectError((await stage.ask(service, { only: ['deposit'] })).deposit, 'nodes_disagree')
  other.reset()
  expectTruth(await stage.ask(service, { only: BUSIEST_ENDPOINTS }), truth)
})

test.for<[number]>([[0], [3]])(
  'A read from two nodes %i blocks apart takes as many round trips as from one',
  async ([blockGap], { stage, reading, honest, other }) => {
    const { chain } = stage.vault
    await callRpc(chain, [{ method: 'anvil_mine', params: [numberToHex(blockGap)] }])
    const [head] = await callRpc(chain, [{ method: 'eth_blockNumber', params: [] }])
    const number = numberToHex(BigInt(head as Hex) - BigInt(blockGap))
    if (blockGap > 0) other.rewriteRequest = (body) => body.replaceAll('"latest"', `"${number}"`)
    // Transfers between chains are excluded, because they also read the clocks of the bridge's pools.
    const only = ENDPOINTS.filter((endpoint) => !endpoint.includes('chain'))
    const takeRequestCount = (wire: RecordingProxy) => {
      const count = wire.bodies.length
      wire.bodies.length = 0
      return count
    }
    const oneHostService = await reading(honest)
    await stage.ask(oneHostService, { only })
    takeRequestCount(honest)
    await stage.ask(oneHostService, { only })
    const byOne = takeRequestCount(honest)
    const both = await reading(honest, other)
    await stage.ask(both, { only })
    for (const wire of [honest, other]) takeRequestCount(wire)
    await stage.ask(both, { only })
    const byTwo = [honest, other].map(takeRequestCount)
    expect(Math.max(...byTwo)).toBeLessThanOrEqual(byOne * 1.1)
  },
)

describe('A response with transactions names the number of hosts:', () => {
  const evidenceOf = (replies: Replies, endpoint: Endpoint) =>
    replies[endpoint].body.evidence.map(({ chainId, nodes }: { chainId: number; nodes: number }) => [chainId, nodes])

  test('two, with their block', async ({ service, stage, reading, honest, other }) => {
    const replies = await stage.ask(await reading(honest, other))
    const [chain] = service.backends.chains
    for (const endpoint of ENDPOINTS) {
      const isBoth = endpoint.includes('chain')
      const expected = [[BASE, 2], ...(isBoth ? [[ARBITRUM, 1]] : [])]
      expect([endpoint, evidenceOf(replies, endpoint)]).toEqual([endpoint, expected])
      const [{ blockNumber, blockHash, timestamp }] = replies[endpoint].body.evidence
      const [block] = await callRpc(chain as NonNullable<typeof chain>, [
        { method: 'eth_getBlockByNumber', params: [numberToHex(blockNumber), false] },
      ])
      expect(block).toMatchObject({ hash: blockHash, timestamp: numberToHex(Date.parse(timestamp) / 1000) })
    }
  })

  test('one for a single host, also with two URLs', async ({ stage, reading, honest }) => {
    expect(evidenceOf(await stage.ask(await reading(honest)), 'deposit')).toEqual([[BASE, 1]])
    const [one, another] = ['a', 'b'].map((path) => ({ url: `${honest.url}/?${path}` })) as [NodeUrl, NodeUrl]
    expect(evidenceOf(await stage.ask(await reading(one, another)), 'deposit')).toEqual([[BASE, 1]])
  })
})

test('A disagreement is logged with hashes of both values and the positions of both nodes, without URLs', async ({
  stage,
  reading,
  honest,
  other,
  third,
}) => {
  third.behaviour = 'answer 500'
  const service = await reading(honest, third, other)
  const logs = captureLogs()
  overrideStorage(other, stage.lies['the vault may take everything from the user'] as StorageOverrides)
  expectError((await stage.ask(service, { only: ['deposit'] })).deposit, 'nodes_disagree')
  const hash = expect.stringMatching(/^[0-9a-f]{16}$/)
  expect(logs.lines).toContainEqual(
    expect.objectContaining({
      level: 'WARN',
      message: 'nodes disagree',
      chainId: BASE,
      hosts: [0, 2],
      hashes: [hash, hash],
    }),
  )
  other.behaviour = 'answer 500'
  expectError((await stage.ask(service, { only: ['deposit'] })).deposit, 'second_node_silent')
  expect(logs.lines).toContainEqual(
    expect.objectContaining({ level: 'WARN', message: 'second node silent', chainId: BASE, hosts: [1, 2] }),
  )
  const disagreement = logs.lines.find(({ message }) => message === 'nodes disagree') as
    | { hashes: string[] }
    | undefined
  expect(new Set(disagreement?.hashes).size).toBe(2)
  for (const { url } of [honest, other]) expect(logs.text()).not.toContain(new URL(url).host)
})

describe('A response names the blocks it rests on:', () => {
  const VAULTS = '/defi-vaults/v1/vaults'

  test('the read block, in every read from a chain', async ({ service, stage }) => {
    const { vault, key } = stage
    const of = `/defi-vaults/v1/defi/vault/${vault.address}`
    const user = `/defi-vaults/v1/defi/user/${ALICE.address}`
    for (const path of [
      VAULTS,
      `/defi-vaults/v1/vault/${vault.address}`,
      `${of}/deposit-status?userAddress=${ALICE.address}`,
      `${of}/withdraw-status?userAddress=${ALICE.address}`,
      `${user}/positions`,
      `${user}/positions/${vault.address}`,
      `${user}/deposits`,
      `${user}/withdrawals`,
    ]) {
      const { body } = await service.call('GET', path, { key })
      expect([path, body.evidence]).toEqual([path, [expect.objectContaining({ chainId: BASE, nodes: 1 })]])
      const [{ blockNumber, blockHash }] = body.evidence
      const [block] = await callRpc(vault.chain, [
        { method: 'eth_getBlockByNumber', params: [numberToHex(blockNumber), false] },
      ])
      expect(block).toMatchObject({ hash: blockHash })
    }
  })

  test('the block of the last known state if a chain cannot be read', async ({ stage, reading, honest }) => {
    const service = await reading(honest)
    // The import comes after the start of the containers, so that the job reads the same nodes as the containers.
    const { runRefreshChain: refresh } = await import('../../support/records.ts')
    await refresh(BASE)
    await callRpc(stage.vault.chain, [{ method: 'anvil_mine', params: ['0x3'] }])
    const [before] = (await service.call('GET', VAULTS, { key: stage.key })).body.evidence
    honest.behaviour = 'answer 500'
    service.pass(0.5)
    const { data, evidence } = (await service.call('GET', VAULTS, { key: stage.key })).body
    const [{ stateAsOf }] = data
    expect(stateAsOf.stale).toBe(true)
    const { blockNumber, timestamp } = stateAsOf
    expect(evidence).toEqual([{ chainId: BASE, blockNumber, timestamp, blockHash: expect.any(String), nodes: 1 }])
    expect(blockNumber).toBeLessThan(before.blockNumber)
  })

  test('none if nothing was read', async ({ service }) => {
    const key = await service.createClient([])
    const { body } = await service.call('GET', `/defi-vaults/v1/defi/user/${ALICE.address}/positions`, { key })
    expect(body.evidence).toEqual([])
  })
})
