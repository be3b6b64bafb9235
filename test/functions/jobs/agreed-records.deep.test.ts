import { isDeepStrictEqual } from 'node:util'
import { type Hex, numberToHex, toEventSelector } from 'viem'
import { describe, expect, onTestFinished } from 'vitest'
import { refreshChain } from '../../../functions/jobs/refresh-chain/handler.ts'
import { createAgreedReaders } from '../../../lib/chain/agreed-reader.ts'
import type { RpcUrls } from '../../../lib/chain/readers.ts'
import { toResult } from '../../../lib/core/result.ts'
import { computeIntervalStart } from '../../../lib/vaults/prices.ts'
import { NODE_PROFILES, type NodeProfileName } from '../../../sandbox/node-profiles.ts'
import { startNode } from '../../../sandbox/nodes.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { type RpcCall, rewriteResults } from '../../support/chain-answers.ts'
import { createJobServices } from '../../support/job.ts'
import { overrideStorage, readStateChanges, type StorageOverrides } from '../../support/lies.ts'
import { captureLogs } from '../../support/logs.ts'
import { finalizeBlocks, restoreRecords, runRefreshChain, scanRecords } from '../../support/records.ts'
import { test as base, type Service, USERS } from '../../support/service.ts'
import { openLagoonVault, openYieldVault } from '../../support/vaults.ts'
import { listRpcCalls, type ProxyBehaviour, type RecordingProxy, startRecordingProxy } from '../../support/wire.ts'

const [ALICE, BOB] = USERS
const BASE = 8453

type NodeUrl = { readonly url: string }

type Log = { readonly topics: readonly Hex[]; readonly data: Hex; readonly blockTimestamp: Hex; readonly logIndex: Hex }

const rewriteEvents = (change: (logs: readonly Log[]) => readonly unknown[]) => (wire: RecordingProxy) =>
  rewriteResults(wire, (result, { method }) => (method === 'eth_getLogs' ? change(result as Log[]) : result))

const rewriteHeadersByTag =
  (change: (header: { number: Hex; timestamp: Hex; hash: Hex }) => object) => (wire: RecordingProxy) =>
    rewriteResults(wire, (result, { method, params }: RpcCall) =>
      method === 'eth_getBlockByNumber' && !String(params[0]).startsWith('0x')
        ? { ...(result as object), ...change(result as { number: Hex; timestamp: Hex; hash: Hex }) }
        : result,
    )

const SETTLED = toEventSelector('SettleDeposit(uint40,uint40,uint256,uint256,uint256,uint256)')
const DEPOSITED = toEventSelector('Deposit(address,address,uint256,uint256)')
const later = (time: Hex, seconds: number) => numberToHex(Number(time) + seconds)
const changeFirstAmount = (log: Log) => ({ ...log, data: `${log.data.slice(0, 58)}0badf00d${log.data.slice(66)}` })

/** False responses of a node that would change the job's records if the job trusted them. */
const LIES: readonly (readonly [lie: string, tells: (wire: RecordingProxy, state: StorageOverrides) => void])[] = [
  [
    'an event that did not happen',
    rewriteEvents((logs) => [...logs, ...logs.slice(-1).map((log) => ({ ...log, logIndex: '0xfff' }))]),
  ],
  ['all events except the deposits', rewriteEvents((logs) => logs.filter(({ topics }) => topics[0] !== DEPOSITED))],
  ['no events', rewriteEvents(() => [])],
  [
    'another amount of an event',
    rewriteEvents((logs) => logs.map((log) => (log.topics[0] === DEPOSITED ? changeFirstAmount(log) : log))),
  ],
  [
    'another settlement',
    rewriteEvents((logs) => logs.map((log) => (log.topics[0] === SETTLED ? changeFirstAmount(log) : log))),
  ],
  [
    'another account of an event',
    rewriteEvents((logs) =>
      logs.map((log) => ({
        ...log,
        topics: log.topics.map((topic) =>
          topic.endsWith(ALICE.address.slice(2).toLowerCase())
            ? `0x${BOB.address.slice(2).toLowerCase().padStart(64, '0')}`
            : topic,
        ),
      })),
    ),
  ],
  [
    'other times of events',
    rewriteEvents((logs) => logs.map((log) => ({ ...log, blockTimestamp: later(log.blockTimestamp, -90_000) }))),
  ],
  ['a final block that is not there yet', rewriteHeadersByTag(({ number }) => ({ number: later(number, 1_000_000) }))],
  [
    'another time of the final block',
    rewriteHeadersByTag(({ timestamp }) => ({ timestamp: later(timestamp, -9_000) })),
  ],
  ['another hash of the block of a state', rewriteHeadersByTag(() => ({ hash: `0x${'f0'.repeat(32)}` }))],
  ['another state and another price', (wire, state) => overrideStorage(wire, state)],
]

async function prepare(service: Service) {
  const vault = await openLagoonVault(service, { generation: '0.5' })
  await vault.request(ALICE.address, vault.units('500'))
  await vault.settle()
  await vault.act(ALICE.address, 'deposit', vault.units('300'), ALICE.address, ALICE.address)
  await vault.act(ALICE.address, 'requestRedeem', 50n * 10n ** 18n, ALICE.address, ALICE.address)
  await vault.settle(vault.units('9'))
  const savings = await openYieldVault(service)
  for (const user of [ALICE, BOB]) {
    await savings.mint(user.address, savings.units('100'))
    await savings.approve(user.address, savings.units('100'))
    await savings.act(user.address, 'deposit', savings.units('100'), user.address)
  }
  await finalizeBlocks(vault.chain)
  const state = await readStateChanges(vault.chain, async () => {
    await vault.settle(vault.units('7'))
    await savings.mint(savings.address, savings.units('33'))
  })
  await service.createClient([vault, savings].map(({ address }) => ({ chainId: BASE, address })))
  const [head] = await callRpc(vault.chain, [{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
  const hour = computeIntervalStart('hour', BigInt((head as { timestamp: Hex }).timestamp))
  const truths: Truths | undefined = undefined
  return { before: await scanRecords(service), state, chain: vault.chain, hour, truths: truths as Truths | undefined }
}

const test = base
  .extend('stage', { scope: 'file' }, ({ sharedService }) => prepare(sharedService))
  .extend('honest', ({ service }) => service.rpc[BASE] as RecordingProxy)
  .extend('other', async ({ service }, { onCleanup }) => {
    const wire = await startRecordingProxy(service.backends.chains[0]?.rpcUrl as string)
    onCleanup(wire.stop)
    return wire
  })
  /**
   * Builds the job refresh-chain for Base that reads these nodes. A run returns the job's report, or undefined if the
   * run fails.
   */
  .extend('jobAt', ({ service: { tables } }) => {
    const { services } = createJobServices(tables)
    return (...nodes: [NodeUrl, ...NodeUrl[]]) => {
      const [first, ...others] = nodes.map(({ url }) => url)
      const rpcUrls: RpcUrls = { [BASE]: [first as string, ...others] }
      const getReader = createAgreedReaders(rpcUrls, { fetch, random: () => 0, now: () => performance.now() })
      const run = refreshChain({ ...services, getReader, now: Date.now })
      return async () => {
        const result = await toResult(run({ chainId: BASE }, { remainingMs: () => 30_000 }))
        return 'value' in result ? result.value : undefined
      }
    }
  })
  /** Returns the comparable records as texts. The number of nodes that agreed on a record is replaced by 0. */
  .extend('recorded', ({ service, stage: { hour } }) => async () => {
    const records = await scanRecords(service)
    // The test does not compare prices of earlier hours. If nodes disagree during an hour, the job never records that
    // hour's price.
    const isMissed = (key: string) => / PRICE#/.test(key) && BigInt(key.split('#').at(-1) as string) < hour
    return new Map(
      [...records]
        // Open requests are not compared, because the job records a settlement later if nodes disagree about it. The
        // first price of a day is not compared, because it depends on the newest block at that moment.
        .filter(([key]) => !/ (OPEN|DAY)#/.test(key) && !isMissed(key))
        .map(([key, item]) => [key, JSON.stringify(item).replace(/"nodes":\d/, '"nodes":0')]),
    )
  })

  .extend(
    'renew',
    ({ service, stage }) =>
      () =>
        restoreRecords(service, stage.before),
  )
  /**
   * Correct records of two runs. `whole` comes from an honest node, `withoutStates` from an honest node that fails
   * all contract reads.
   */
  .extend('truths', async ({ stage, renew, jobAt, honest, recorded }) => {
    if (stage.truths) return stage.truths
    await renew()
    rewriteResults(honest, (result, { method }) => (method === 'eth_call' ? null : result))
    await jobAt(honest)()
    const withoutStates = await recorded()
    honest.reset()
    await renew()
    await jobAt(honest)()
    stage.truths = { whole: await recorded(), withoutStates }
    return stage.truths
  })

type Records = ReadonlyMap<string, string>
type Truths = { readonly whole: Records; readonly withoutStates: Records }

/** Lists the records that differ from all correct ones. A record of the job's progress may also name an earlier block. */
function listUntrue(recorded: Records, ...truths: readonly Records[]): string[] {
  const isTrue = (key: string, item: string) =>
    truths.some((truth) => truth.get(key) === item || isProgressTo(item, truth.get(key)))
  return [...recorded].filter(([key, item]) => !isTrue(key, item)).map(([key, item]) => `${key} ${item}`)
}

function isProgressTo(item: string, truth = '{}'): boolean {
  const [{ through, ...progress }, whole] = [JSON.parse(item), JSON.parse(truth)]
  if (through === undefined || through < whole.through) return through !== undefined
  return isDeepStrictEqual([progress.ledger, progress.timestamp], [whole.ledger, whole.timestamp])
}

describe('One of two nodes that reports', () => {
  test.for(LIES.map(([name, lie], index) => [name, lie, index % 2] as const))(
    '%s gets nothing false recorded, also while the other one is down, and hides nothing',
    async ([, lie, place], { stage, renew, truths, honest, other, jobAt, recorded }) => {
      const { whole, withoutStates } = truths
      await renew()
      lie(other, stage.state)
      await jobAt(other)()
      const believed = await recorded()
      expect([listUntrue(believed, whole, withoutStates), mapProgress(believed)]).not.toEqual([[], mapProgress(whole)])

      await renew()
      const run = place === 0 ? jobAt(honest, other) : jobAt(other, honest)
      for (const behaviour of ['answer 500', 'pass'] as ProxyBehaviour[]) {
        honest.behaviour = behaviour
        await run()
        expect(listUntrue(await recorded(), whole, withoutStates)).toEqual([])
      }
      other.reset()
      expect(await run()).toMatchObject({ outcome: 'refreshed', behind: 0 })
      const records = await recorded()
      expect(listUntrue(records, whole, withoutStates)).toEqual([])
      expect(mapProgress(records)).toEqual(mapProgress(whole))
    },
  )
})

test("An event with an invalid time gets its block's time, whether one or both nodes return it", async ({
  stage,
  renew,
  truths: { whole },
  honest,
  jobAt,
  recorded,
}) => {
  const node = await startNode(NODE_PROFILES['missing-times'], stage.chain.rpcUrl)
  onTestFinished(node.stop)
  for (const nodes of [[node], [honest, node], [node, honest]] as [NodeUrl, ...NodeUrl[]][]) {
    await renew()
    expect(await jobAt(...nodes)()).toMatchObject({ outcome: 'refreshed', behind: 0 })
    expect(await recorded()).toEqual(whole)
  }
})

test('States are read at a slightly earlier block if the second node does not know the head of the first', async ({
  stage,
  renew,
  honest,
  other,
  jobAt,
}) => {
  await renew()
  const [snapshot] = await callRpc(stage.chain, [{ method: 'evm_snapshot', params: [] }])
  await callRpc(stage.chain, [{ method: 'anvil_mine', params: [numberToHex(12)] }])
  const [head] = await callRpc(stage.chain, [{ method: 'eth_blockNumber', params: [] }])
  rewriteResults(other, (result, { method, params }) =>
    method === 'eth_getBlockByNumber' && params[0] === head ? null : result,
  )
  const logs = captureLogs()
  const report = await jobAt(honest, other)()
  await callRpc(stage.chain, [{ method: 'evm_revert', params: [snapshot] }])
  expect(report).toMatchObject({ outcome: 'refreshed', states: 8 })
  expect(logs.lines.map(({ message }) => message)).not.toContain('states not read')
})

function mapProgress(records: Records) {
  return new Map([...records].map(([key, item]) => [key, JSON.parse(item).through]))
}

describe('A second node that does not respond', () => {
  test('delays the records, which are complete once it responds again', async ({
    renew,
    truths: { whole },
    honest,
    other,
    jobAt,
    recorded,
  }) => {
    await renew()
    const before = await recorded()
    const logs = captureLogs()
    const run = jobAt(honest, other)
    other.behaviour = 'answer 500'
    expect(await run()).toBeUndefined()
    expect(await recorded()).toEqual(before)
    expect(logs.lines).toContainEqual(expect.objectContaining({ message: 'second node silent', chainId: BASE }))
    other.reset()
    expect(await run()).toMatchObject({ outcome: 'refreshed', behind: 0 })
    expect(await recorded()).toEqual(whole)
  })

  test('to calls for old events is replaced by a third one', async ({
    stage,
    renew,
    truths: { whole, withoutStates },
    honest,
    other,
    jobAt,
    recorded,
  }) => {
    await renew()
    const third = await startRecordingProxy(stage.chain.rpcUrl)
    other.rewrite = (answer, request) => {
      const calls: RpcCall[] = JSON.parse(request)
      const items: { id: number }[] = JSON.parse(answer)
      const isOld = (id: number) => calls.find((call) => call.id === id)?.method === 'eth_getLogs'
      const error = { code: -32_602, message: 'Archive requests require a personal token' }
      return JSON.stringify(items.map((item) => (isOld(item.id) ? { jsonrpc: '2.0', id: item.id, error } : item)))
    }
    await jobAt(honest, other)()
    const records = await recorded()
    expect(listUntrue(records, whole, withoutStates)).toEqual([])
    expect(mapProgress(records)).not.toEqual(mapProgress(whole))
    await jobAt(honest, other, third)()
    expect(mapProgress(await recorded())).toEqual(mapProgress(whole))
    await third.stop()
  })

  test.for<NodeProfileName>([
    'drpc-free',
    'publicnode',
    'no-logs',
    'quicknode-trial',
    'no-batches',
    'rate-limited',
    'redirecting',
    'wrong-chain',
    'behind',
  ])(
    'like %s, the second of three, prevents no record and at most triples the requests',
    async (name, { stage, renew, truths: { whole }, honest, other, jobAt, recorded }) => {
      const third = await startRecordingProxy(stage.chain.rpcUrl)
      const node = await startNode(NODE_PROFILES[name], stage.chain.rpcUrl)
      const odd = await startRecordingProxy(node.url)
      const recordAt = async (...wires: [RecordingProxy, ...RecordingProxy[]]) => {
        await renew()
        for (const wire of wires) wire.bodies.length = 0
        await jobAt(...wires)()
        expect(mapProgress(await recorded())).toEqual(mapProgress(whole))
        return wires.reduce((sum, { bodies }) => sum + bodies.length, 0)
      }
      const healthy = await recordAt(honest, other, third)
      expect(await recordAt(honest, odd, third)).toBeLessThanOrEqual(healthy * 3)
      for (const stand of [third, node, odd]) await stand.stop()
    },
  )

  test('makes the whole job fail', async ({ service, honest, other }) => {
    service.backends.setRpcUrls({ [BASE]: [honest.url, other.url] })
    other.behaviour = 'answer 500'
    await expect(runRefreshChain(BASE)).rejects.toMatchObject({ code: 'second_node_silent' })
  })
})

test('A run with two hosts sends each as many requests as a run with one, plus one for a header', async ({
  renew,
  honest,
  other,
  jobAt,
}) => {
  const cost = async (...nodes: [RecordingProxy, ...RecordingProxy[]]) => {
    await renew()
    const run = jobAt(...nodes)
    for (const wire of nodes) wire.bodies.length = 0
    await run()
    return nodes.map((wire) => ({ requests: wire.bodies.length, calls: listRpcCalls(wire).flat().length }))
  }
  const [oneHost = { requests: 0, calls: 0 }] = await cost(honest)
  const each = { requests: oneHost.requests, calls: oneHost.calls + 1 }
  expect(await cost(honest, other)).toEqual([each, each])
})
