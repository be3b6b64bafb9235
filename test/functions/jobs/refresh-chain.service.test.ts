import { type Address, numberToHex } from 'viem'
import { describe, expect, vi } from 'vitest'
import { chainVaultKey, listedVaultsStore, vaultClientsKey } from '../../../lib/clients/listed-vaults-store.ts'
import { MULTICALL3 } from '../../../sandbox/chains.ts'
import { copyVault } from '../../../sandbox/copies.ts'
import { deployYieldVault } from '../../../sandbox/deploy.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { transact } from '../../../sandbox/transactions.ts'
import type { RpcCall } from '../../support/chain-answers.ts'
import { someContext } from '../../support/lambda.ts'
import { createUserViews, finalizeBlocks, restoreRecords, runRefreshChain, scanRecords } from '../../support/records.ts'
import { test as base, type Service, USERS } from '../../support/service.ts'
import { createEmptyBlocks, type EmptyBlocks, type EventFilter } from '../../support/silence.ts'
import { call } from '../../support/transfers.ts'
import { openLagoonVault, openYieldVault, type TestVault } from '../../support/vaults.ts'
import { listRpcCalls, type RecordingProxy } from '../../support/wire.ts'

const [ALICE, BOB, CAROL] = USERS
const BASE = 8453

type QuietChain = Service['backends']['chains'][number] & {
  pass(blocks: number): Promise<{ undo(): void }>
  head(): Promise<number>
  /** Makes all events so far final. Returns the number of a final block. */
  finalize(): Promise<number>
  /** Resets the RPC proxy: it forgets its requests and no longer changes results. The simulated empty blocks stay. */
  calm(): void
  record(): Promise<void>
}

const realHead = async (chain: { rpcUrl: string }) =>
  Number((await callRpc(chain, [{ method: 'eth_blockNumber', params: [] }]))[0])

function quiet(service: Service, index: 0 | 1, silence: EmptyBlocks): QuietChain {
  const chain = service.backends.chains[index] as Service['backends']['chains'][number]
  const wire = service.rpc[chain.chainId] as RecordingProxy
  silence.applyTo(wire)
  const pass = async (blocks: number) => silence.add(await realHead(chain), blocks)
  const finalizeAll = async () => silence.toReportedBlock(await finalizeBlocks(chain))
  return {
    ...chain,
    pass,
    head: async () => silence.toReportedHead(await realHead(chain)),
    finalize: finalizeAll,
    calm() {
      wire.reset()
      silence.applyTo(wire)
    },
    async record() {
      const final = await finalizeAll()
      for (let run = 0; run < 9; run += 1) {
        const { through, behind } = await runRefreshChain(chain.chainId)
        if ((through ?? 0) >= final && behind === 0) return
      }
      throw new Error('The records do not catch up with the chain')
    },
  }
}

const test = base
  .extend('rpc', ({ service }) => service.rpc[BASE] as RecordingProxy)
  .extend('silence', () => createEmptyBlocks())
  .extend('chain', ({ service, silence }) => quiet(service, 0, silence))
  /** Creates a client with a Lagoon vault and a synchronous vault. Runs the job until it has recorded both vaults. */
  .extend('vaults', async ({ service, chain, coldService }) => {
    const { lagoon, sync, key } = await service.restore('vaults', async () => {
      const [lagoon, sync] = [await openLagoonVault(service, { generation: '0.5' }), await openYieldVault(service)]
      const key = await service.createClient([lagoon, sync].map(({ address }) => ({ chainId: BASE, address })))
      await chain.record()
      return { lagoon, sync, key }
    })
    for (const { bodies } of Object.values(service.rpc)) bodies.length = 0
    // Responses come from new containers, because older containers cache records from before the table was restored.
    return { lagoon, sync, views: createUserViews(coldService, key) }
  })

type Vaults = {
  readonly lagoon: TestVault
  readonly sync: TestVault
  readonly views: ReturnType<typeof createUserViews>
}

/** Does every kind of user activity once. Eleven events make ledger entries, and the other events make none. */
async function playEverything({ lagoon, sync }: Pick<Vaults, 'lagoon' | 'sync'>): Promise<void> {
  await lagoon.request(ALICE.address, 5_000_000n)
  await lagoon.request(BOB.address, 6_000_000n)
  await lagoon.act(BOB.address, 'cancelRequestDeposit')
  await lagoon.settle(1_000_000n)
  await lagoon.act(ALICE.address, 'deposit', 3_000_000n, ALICE.address, ALICE.address)
  await lagoon.act(ALICE.address, 'deposit', 2_000_000n, ALICE.address, ALICE.address)
  const shares = await lagoon.read('balanceOf', ALICE.address)
  await lagoon.act(ALICE.address, 'transfer', CAROL.address, shares / 4n)
  await lagoon.act(ALICE.address, 'requestRedeem', shares / 4n, ALICE.address, ALICE.address)
  await lagoon.settle(1_000_000n)
  await lagoon.act(ALICE.address, 'redeem', shares / 4n, ALICE.address, ALICE.address)
  await sync.mint(CAROL.address, 9_000_000n)
  await sync.approve(CAROL.address, 9_000_000n)
  await sync.act(CAROL.address, 'deposit', 9_000_000n, ALICE.address)
  await sync.act(ALICE.address, 'redeem', 1_000_000n, ALICE.address, ALICE.address)
}

/** Returns the API's data of three users. Yields are replaced by 0, because they change with time. */
async function showUsers({ views }: Pick<Vaults, 'views'>) {
  const strip = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (name, of) => (['apy', 'annualYield'].includes(name) ? 0 : of))
  const users = [ALICE, BOB, CAROL].map(({ address }) => address)
  return Promise.all(
    users.map(async (user) => {
      const [positions, deposits] = [await views.positions(user), await views.deposits(user)]
      expect([positions.status, deposits.status]).toEqual([200, 200])
      return strip([positions.body, deposits.body])
    }),
  )
}

const entriesIn = (records: ReadonlyMap<string, unknown>) =>
  [...records.keys()].filter((key) => key.includes(' EVENT#'))
function pickLasting(records: ReadonlyMap<string, Record<string, unknown>>) {
  return new Map([...records].filter(([key]) => !/ (STATE$|PROGRESS$|OPEN#|SNAPSHOT#|PRICE#|DAY#)/.test(key)))
}

const listEventCalls = (wire: RecordingProxy) =>
  listRpcCalls(wire)
    .flat()
    .filter(({ method }) => method === 'eth_getLogs')
    .map(({ params }) => params[0] as EventFilter)

type RpcResponse = { readonly id: number; readonly result?: unknown; readonly error?: unknown }

/**
 * Makes the node refuse event queries with `error`. `isRefused` decides from the query's filter and the events that
 * the node would return.
 */
function refuseEvents(
  wire: RecordingProxy,
  error: { readonly code: number; readonly message: string },
  isRefused: (filter: EventFilter, logs: readonly unknown[]) => boolean,
): void {
  const below = wire.rewrite
  wire.rewrite = (answer, request) => {
    const calls: RpcCall[] = JSON.parse(request)
    const refuse = ({ id, ...rest }: RpcResponse): RpcResponse => {
      const call = calls.find((candidate) => candidate.id === id)
      if (call?.method !== 'eth_getLogs' || !Array.isArray(rest.result)) return { id, ...rest }
      return isRefused(call.params[0] as EventFilter, rest.result) ? { id, error } : { id, ...rest }
    }
    return JSON.stringify((JSON.parse(below?.(answer, request) ?? answer) as RpcResponse[]).map(refuse))
  }
}

describe('The job', () => {
  test('records exactly what live reads show', async ({ chain, rpc, vaults, service }) => {
    await playEverything(vaults)
    const before = await showUsers(vaults)
    const count = entriesIn(await scanRecords(service)).length
    const final = await chain.finalize()
    const { entries, outcome, through, lagSeconds } = await runRefreshChain(BASE)
    expect(outcome).toBe('refreshed')
    expect(through).toBeGreaterThanOrEqual(final)
    expect(lagSeconds).toBeGreaterThanOrEqual(120)
    expect(lagSeconds).toBeLessThan(180)
    // The eleven entries are three deposits, one cancellation, two claims, the two sides of a transfer, one
    // redemption and two withdrawals.
    expect(entries).toBe(11)
    expect(entriesIn(await scanRecords(service)).length).toBe(count + 11)
    expect(await showUsers(vaults)).toEqual(before)
    // The job has recorded all events, so the service must read events only from the next block on.
    chain.calm()
    service.pass(31)
    await vaults.views.positions(ALICE.address)
    const fromBlock = numberToHex((through ?? 0) + 1)
    expect(listEventCalls(rpc)).toMatchObject([{ fromBlock }])
  })

  test("records a vault that is missing from its chain's list in the first run of a new container", async ({
    chain,
    vaults: { sync },
    service: { tables },
  }) => {
    await sync.mint(ALICE.address, 9_000_000n)
    await sync.approve(ALICE.address, 9_000_000n)
    await sync.act(ALICE.address, 'deposit', 9_000_000n, ALICE.address)
    await chain.finalize()
    const vault = { chainId: BASE, address: sync.address }
    const { listClientsOf } = listedVaultsStore(tables.clients)
    const before = await listClientsOf([vault])
    await tables.clients.deleteMany([chainVaultKey(vault), vaultClientsKey(vault)])
    expect(await runRefreshChain(BASE)).toMatchObject({ entries: 0 })

    vi.resetModules()
    const { handler } = await import('../../../functions/jobs/refresh-chain/handler.ts')
    expect(await handler({ chainId: BASE }, someContext())).toMatchObject({ outcome: 'refreshed', entries: 1 })
    expect(await listClientsOf([vault])).toEqual(before)
  })

  test('records nothing twice, and nothing before it is final', async ({ chain, vaults, service }) => {
    await playEverything(vaults)
    const last = await chain.head()
    const before = await showUsers(vaults)
    const early = await scanRecords(service)
    // The node's tag "safe" already includes the block, but the block is too young to be final for the job.
    await callRpc(chain, [{ method: 'anvil_mine', params: [numberToHex(6)] }])
    expect(await runRefreshChain(BASE)).toMatchObject({ entries: 0 })
    expect(entriesIn(await scanRecords(service))).toEqual(entriesIn(early))
    expect(await showUsers(vaults)).toEqual(before)
    await chain.finalize()
    expect(await runRefreshChain(BASE)).toMatchObject({ outcome: 'refreshed', entries: 11 })
    expect(await showUsers(vaults)).toEqual(before)

    // The block is now old enough to be final for the job, but the node's tag "safe" does not include it yet.
    await vaults.lagoon.request(ALICE.address, 1_000_000n)
    expect(await chain.head()).toBeGreaterThan(last)
    await callRpc(chain, [{ method: 'evm_increaseTime', params: [200] }])
    await callRpc(chain, [{ method: 'anvil_mine', params: [numberToHex(1)] }])
    expect(await runRefreshChain(BASE)).toMatchObject({ entries: 0 })
    await callRpc(chain, [{ method: 'anvil_mine', params: [numberToHex(1)] }])
    expect(await runRefreshChain(BASE)).toMatchObject({ entries: 1 })
    const once = await scanRecords(service)
    expect(await runRefreshChain(BASE)).toMatchObject({ outcome: 'refreshed', entries: 0, prices: 0, states: 0 })
    expect(await scanRecords(service)).toEqual(once)
  })

  test('makes the same records in parallel runs as in one', async ({ chain, rpc, vaults, service }) => {
    await playEverything(vaults)
    await chain.finalize()
    const start = await scanRecords(service)
    let release = () => {}
    rpc.hold = new Promise<void>((resolve) => {
      release = resolve
    })
    const runs = [runRefreshChain(BASE), runRefreshChain(BASE)]
    await expect.poll(() => rpc.bodies.length).toBeGreaterThan(1)
    release()
    for (const { outcome } of await Promise.all(runs)) expect(outcome).toBe('refreshed')
    await runRefreshChain(BASE)
    const together = await scanRecords(service)
    await restoreRecords(service, start)
    await runRefreshChain(BASE)
    expect(await scanRecords(service)).toEqual(together)

    // A slow run must not overwrite the progress that a parallel run has stored in the meantime.
    await playEverything(vaults)
    await chain.finalize()
    rpc.hold = new Promise<void>((resolve) => {
      release = resolve
    })
    rpc.bodies.length = 0
    const slow = runRefreshChain(BASE)
    await expect.poll(() => rpc.bodies.length).toBeGreaterThan(0)
    rpc.hold = undefined
    expect(await runRefreshChain(BASE)).toMatchObject({ outcome: 'refreshed', entries: 11 })
    const undisturbed = await scanRecords(service)
    release()
    await slow
    expect(await scanRecords(service)).toEqual(undisturbed)
    expect(await runRefreshChain(BASE)).toMatchObject({ outcome: 'refreshed', entries: 0 })
  })

  test('leaves no wrong record if killed at any write, and the next run makes the same records', async ({
    chain,
    vaults,
    service,
  }) => {
    const { table } = service
    await playEverything(vaults)
    await chain.finalize()
    const start = await scanRecords(service)
    let kills = 0
    for (let count = 1; count < 60; count += 1) {
      table.killAt(count)
      const outcome = await runRefreshChain(BASE).catch(() => undefined)
      table.reset()
      if (outcome) break
      kills += 1
      const between = await scanRecords(service)
      for (const [key, item] of pickLasting(start)) expect(between.get(key)).toEqual(item)
    }
    expect(kills).toBeGreaterThanOrEqual(5)
    const killed = await scanRecords(service)
    expect(await runRefreshChain(BASE)).toMatchObject({ outcome: 'refreshed', entries: 0, prices: 0, states: 0 })
    expect(await scanRecords(service)).toEqual(killed)
    expect(entriesIn(killed).length - entriesIn(start).length).toBe(11)

    // A run that is not killed must store the same records as the killed runs together.
    await restoreRecords(service, start)
    await runRefreshChain(BASE)
    expect(await scanRecords(service)).toEqual(killed)
  })

  test('records nothing without time left, and the next run records everything', async ({ chain, vaults, service }) => {
    await playEverything(vaults)
    await chain.finalize()
    const start = await scanRecords(service)
    // The job keeps some seconds for its last writes. Less time is left, so the run records nothing.
    expect(await runRefreshChain(BASE, { remainingMs: 4_000 })).toMatchObject({ outcome: 'refreshed', entries: 0 })
    expect(entriesIn(await scanRecords(service))).toEqual(entriesIn(start))
    expect(await runRefreshChain(BASE)).toMatchObject({ entries: 11 })
  })

  test('makes no other records from the same blocks again', async ({ chain, vaults, service }) => {
    const start = await scanRecords(service)
    await playEverything(vaults)
    await chain.finalize()
    expect(await runRefreshChain(BASE)).toMatchObject({ entries: 11 })
    const first = await scanRecords(service)
    // The job's progress for the vaults is set back, so the next run reads the same blocks again.
    const progress = [...start].filter(([key]) => key.endsWith(' PROGRESS'))
    await restoreRecords(service, new Map([...first, ...progress]))
    expect(await runRefreshChain(BASE)).toMatchObject({ outcome: 'refreshed', entries: 11 })
    expect(await scanRecords(service)).toEqual(first)
  })
})

describe('A vault whose symbol exceeds the size of a record', () => {
  /** Bytecode of a contract that returns a text of 425,984 bytes for symbol(), and 1 for every other call. */
  const LONG_SYMBOL = '0x60003560e01c6395d89b4114601957600160005260206000f35b602060005262068000602052620680406000f3'

  test('prevents the record of no other state, and its own lacks only the symbol', async ({
    chain,
    vaults,
    service,
  }) => {
    const { lagoon } = vaults
    const bad = await openLagoonVault(service, { generation: '0.5' })
    await callRpc(chain, [{ method: 'anvil_setCode', params: [bad.address, LONG_SYMBOL] }])
    await lagoon.request(ALICE.address, 5_000_000n)
    expect(await runRefreshChain(BASE)).toMatchObject({ outcome: 'refreshed', states: 2 })
    const records = await scanRecords(service)
    const stateOf = ({ address }: TestVault) => records.get(`VAULT#${BASE}#${address} STATE`)?.['state']
    expect(stateOf(lagoon)).toMatchObject({ pendingDeposits: '5000000' })
    const missing = expect.arrayContaining(['symbol'])
    expect(stateOf(bad)).toMatchObject({ symbol: null, totalAssets: '1', missing })
  })
})

describe('A third party that sends thousands of units of shares', () => {
  const TRANSFERS = 6_000

  test('costs other users one request and no wait, and the recipients still get a response', async ({
    chain,
    rpc,
    vaults,
    service,
  }) => {
    const { lagoon, sync, views } = vaults
    await playEverything(vaults)
    await lagoon.act(ALICE.address, 'transfer', MULTICALL3, 1_000_000n)
    await chain.record()
    const askAll = async (user: string) => {
      rpc.bodies.length = 0
      const replies = [await views.positions(user), await views.deposits(user)]
      expect(replies.map(({ status }) => status)).toEqual([200, 200])
      return { requests: rpc.bodies.length, bodies: replies.map(({ body }) => body) }
    }
    const strangers = await askAll(BOB.address)
    const victims = await askAll(CAROL.address)
    const sendDust = async () => {
      const one = { ...call(lagoon.address, 'transfer', [CAROL.address, 1n]), allowFailure: false }
      for (let sent = 0; sent < TRANSFERS; sent += 1_000) {
        const { target, callData } = call(MULTICALL3, 'aggregate3', [Array.from({ length: 1_000 }, () => one)])
        await transact(chain, [{ label: 'dust', from: BOB.address, to: target, data: callData }])
      }
    }
    await sendDust()
    // The vaults have too many recent events to read those of all users. The service then requests only the user's
    // events.
    expect(await askAll(BOB.address)).toEqual({ ...strangers, requests: strangers.requests + 2 })
    const [dusted] = (await askAll(CAROL.address)).bodies
    // The response reports an error for the vault with too many events. It still contains the user's position in the
    // other vault.
    expect(dusted.errors).toEqual({ [BASE]: expect.stringMatching(/too many recent events/) })
    const inSync = (body: { positions: { vaultAddress: string }[] }) =>
      body.positions.filter(({ vaultAddress }) => vaultAddress === sync.address)
    expect(inSync(dusted)).toEqual(inSync(victims.bodies[0]))

    await sync.mint(BOB.address, 1_000_000n)
    await sync.approve(BOB.address, 1_000_000n)
    await sync.act(BOB.address, 'deposit', 1_000_000n, BOB.address)
    await chain.finalize()
    const report = await runRefreshChain(BASE)
    expect(report).toMatchObject({ behind: 0, entries: 1 })
    service.pass(31)
    // The job does not record transfers of shares worth less than one unit of the asset, so no total changes.
    const [recorded] = (await askAll(CAROL.address)).bodies
    const [earlier] = victims.bodies
    const totals = ({ totalDepositedAssets, totalWithdrawnAssets }: Record<string, string>) => [
      totalDepositedAssets,
      totalWithdrawnAssets,
    ]
    expect(recorded.positions.map(totals)).toEqual(earlier.positions.map(totals))
    expect(recorded).not.toHaveProperty('errors')
  })
})

describe('If a node limits calls for events, no event is missed:', () => {
  const LIMITS: [string, { code: number; message: string }, (blocks: number, count: number) => boolean][] = [
    ['1,000 blocks', { code: -32602, message: 'query exceeds max block range 1000' }, (blocks) => blocks > 1_000],
    ['20 results', { code: -32005, message: 'query returned more than 10000 results' }, (_, count) => count > 20],
  ]

  test.for(LIMITS)('%s', async ([, error, isRefused], { chain, rpc, vaults }) => {
    await playEverything(vaults)
    await chain.pass(1_500)
    await playEverything(vaults)
    const before = await showUsers(vaults)
    refuseEvents(rpc, error, (filter, logs) => {
      const head = filter.toBlock === 'latest' ? Number.MAX_SAFE_INTEGER : Number(filter.toBlock)
      return isRefused(head - Number(filter.fromBlock) + 1, logs.length)
    })
    // The response is complete, although the unrecorded blocks exceed the node's limit for one event query.
    expect(await showUsers(vaults)).toEqual(before)
    await chain.finalize()
    expect(await runRefreshChain(BASE)).toMatchObject({ outcome: 'refreshed', entries: 22 })
    expect(await showUsers(vaults)).toEqual(before)
    chain.calm()
    expect(await showUsers(vaults)).toEqual(before)
    expect(await runRefreshChain(BASE)).toMatchObject({ entries: 0 })
  })

  test('a refusal of all calls makes the run fail by name, and the next run records everything', async ({
    chain,
    rpc,
    vaults,
    service,
  }) => {
    await playEverything(vaults)
    await chain.finalize()
    const start = await scanRecords(service)
    refuseEvents(rpc, { code: -32000, message: 'the past is pruned' }, () => true)
    await expect(runRefreshChain(BASE)).rejects.toMatchObject({ code: 'upstream_bad_answer' })
    expect(await scanRecords(service)).toEqual(start)
    chain.calm()
    expect(await runRefreshChain(BASE)).toMatchObject({ entries: 11 })
  })

  test.for(['lost', 'lost in part', 'cut off'] as const)(
    'a batch that is %s',
    async (how, { chain, rpc, vaults, service }) => {
      await playEverything(vaults)
      await chain.finalize()
      const start = await scanRecords(service)
      if (how === 'lost') rpc.behaviour = 'answer an empty batch'
      else if (how === 'cut off') rpc.rewrite = (answer) => answer.slice(0, answer.length / 2)
      else rpc.rewrite = (answer) => JSON.stringify((JSON.parse(answer) as unknown[]).slice(1))
      await expect(runRefreshChain(BASE)).rejects.toMatchObject({ code: 'upstream_bad_answer' })
      expect(pickLasting(await scanRecords(service))).toEqual(pickLasting(start))
      chain.calm()
      expect(await runRefreshChain(BASE)).toMatchObject({ entries: 11 })
    },
  )

  test('a node behind the records moves nothing back', async ({ chain, rpc, vaults, service }) => {
    await playEverything(vaults)
    await chain.record()
    const before = await showUsers(vaults)
    const recorded = await scanRecords(service)
    const { through } = await runRefreshChain(BASE)
    const below = rpc.rewriteRequest
    const real = await realHead(chain)
    rpc.rewriteRequest = (request) => {
      const calls: RpcCall[] = JSON.parse(below?.(request) ?? request)
      const behind = (call: RpcCall): RpcCall =>
        call.method === 'eth_getBlockByNumber' && !String(call.params[0]).startsWith('0x')
          ? { ...call, params: [numberToHex(real - 20), false] }
          : call
      return JSON.stringify(calls.map(behind))
    }
    expect(await runRefreshChain(BASE)).toMatchObject({ outcome: 'refreshed', through, entries: 0, behind: 0 })
    expect(pickLasting(await scanRecords(service))).toEqual(pickLasting(recorded))
    chain.calm()
    expect(await showUsers(vaults)).toEqual(before)
    await playEverything(vaults)
    await chain.finalize()
    expect(await runRefreshChain(BASE)).toMatchObject({ entries: 11 })
  })
})

describe('When a reorganisation removes blocks', () => {
  test('the live data changes and the records do not', async ({ chain, vaults, service }) => {
    await playEverything(vaults)
    await chain.record()
    const recorded = await scanRecords(service)
    const settled = await showUsers(vaults)
    const [id] = await callRpc(chain, [{ method: 'evm_snapshot', params: [] }])

    await vaults.lagoon.request(ALICE.address, 7_000_000n)
    await vaults.sync.act(ALICE.address, 'transfer', BOB.address, 1_000_000n)
    await runRefreshChain(BASE)
    const orphaned = await showUsers(vaults)
    expect(orphaned).not.toEqual(settled)
    expect(entriesIn(await scanRecords(service))).toEqual(entriesIn(recorded))

    await callRpc(chain, [{ method: 'evm_revert', params: [id] }])
    expect(await showUsers(vaults)).toEqual(settled)
    await vaults.lagoon.request(ALICE.address, 1_234_567n)
    const other = await showUsers(vaults)
    expect(other).not.toEqual(orphaned)
    expect(other).not.toEqual(settled)
    await chain.finalize()
    expect(await runRefreshChain(BASE)).toMatchObject({ entries: 1 })
    expect(await showUsers(vaults)).toEqual(other)
    const after = await scanRecords(service)
    for (const key of entriesIn(recorded)) expect(after.get(key)).toEqual(recorded.get(key))
    expect(entriesIn(after)).toHaveLength(entriesIn(recorded).length + 1)
  })
})

describe('One run', () => {
  test('over 50 busy vaults takes 4 requests to a node that times its events, and 5 to another', async ({
    service,
    chain,
    rpc,
    vaults,
  }) => {
    await requestFor(vaults.lagoon, 1_000)
    const asset = chain.tokens.find(({ symbol }) => symbol === 'USDC')?.address as Address
    const addresses = Array.from({ length: 45 }, (_, index) => numberToHex(0x5afe00 + index, { size: 20 }))
    await copyVault(chain, vaults.sync.address, addresses)
    // An hour begins now, so that none begins during the runs: its prices would take one more request.
    const [latest] = await callRpc(chain, [{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
    const { timestamp } = latest as { timestamp: string }
    const nextHour = (Math.floor(Number(timestamp) / 3_600) + 1) * 3_600
    await callRpc(chain, [{ method: 'evm_setNextBlockTimestamp', params: [nextHour] }])
    await callRpc(chain, [{ method: 'anvil_mine', params: ['0x1'] }])
    await service.createClient(addresses.map((address) => ({ chainId: BASE, address })))
    await chain.record()
    const { deposits } = (await vaults.views.deposits(numberToHex(0xacc000 + 999, { size: 20 }))).body
    expect(deposits).toMatchObject([{ status: 'pending' }])

    // The first two runs store the current hour's price of every vault. The measured runs then need to read no such
    // price.
    for (let run = 0; run < 2; run += 1) await runRefreshChain(BASE)
    const runOver = async () => {
      await depositInto(chain, asset, addresses, 100)
      await chain.finalize()
      rpc.bodies.length = 0
      const { entries, vaults } = await runRefreshChain(BASE)
      expect(entries).toBe(100)
      expect(vaults).toBeGreaterThanOrEqual(50)
      return rpc.bodies.length
    }
    // The node gets at most four requests. The last one reads the chain data that the new ledger entries need besides
    // their events.
    expect(await runOver()).toBeLessThanOrEqual(4)
    const below = rpc.rewrite
    rpc.rewrite = (answer, request) =>
      (below?.(answer, request) ?? answer).replaceAll(/"blockTimestamp":"0x[0-9a-f]+",?/g, '')
    expect(await runOver()).toBeLessThanOrEqual(5)
    expect(service.rpc[42161]?.bodies).toEqual([])
  })
})

describe('A run after a day', () => {
  test('reads a silent day and all events before and after it', async ({ chain, vaults, service }) => {
    await playEverything(vaults)
    // Blocks of this chain are two seconds apart, so 43,200 blocks are one day.
    await chain.pass(43_200)
    await playEverything(vaults)
    const before = await showUsers(vaults)
    await chain.finalize()
    const report = await runRefreshChain(BASE)
    expect(report).toMatchObject({ outcome: 'refreshed', entries: 22, behind: 0 })
    expect(await showUsers(vaults)).toEqual(before)
    expect(entriesIn(await scanRecords(service)).length).toBeGreaterThanOrEqual(22)
  })
})

describe('A vault that is added after its chain is recorded', () => {
  const ARBITRUM = 42161
  const SILENCE = 130_000

  test('is recorded from its first block, shown meanwhile, and delays no other vault', async ({ service }) => {
    const chain = quiet(service, 1, createEmptyBlocks())
    const rpc = service.rpc[ARBITRUM] as RecordingProxy
    const open = () => openLagoonVault(service, { generation: '0.5', chainId: ARBITRUM })
    const early = await open()
    const late: Address[] = []
    const asset = chain.tokens.find(({ symbol }) => symbol === 'USDC')?.address as Address
    for (let i = 0; i < 7; i += 1) late.push(await deployYieldVault(chain, { asset, name: `Late ${i}`, symbol: 'L' }))
    await early.request(ALICE.address, 5_000_000n)
    await depositInto(chain, asset, late, 7)
    await chain.pass(SILENCE)
    await chain.record()

    // The client gets seven more vaults. The node fails to return the past events of six of the new vaults.
    const key = await service.createClient(late.map((address) => ({ chainId: ARBITRUM, address })))
    const views = createUserViews(service, key)
    // The good vault has the highest address. A job that stopped at the first failing vault would not reach it.
    const [good, ...bad] = late.toSorted().toReversed() as [Address, ...Address[]]
    const faithful = rpc.rewrite
    refuseEvents(
      rpc,
      { code: -32000, message: 'pruned' },
      // The node refuses queries for the events of all users of a vault in `bad`. The service can still query the
      // events of one user.
      ({ address, topics }) => topics.length === 1 && bad.some((one) => address.includes(one)),
    )
    const positionIn = async (vault: Address) => (await views.position(USERS[0].address, vault)).body
    expect(await positionIn(good)).toMatchObject({ totalDepositedAssets: '1000000', depositCount: 1 })
    await early.request(ALICE.address, 1_000_000n)
    const final = await chain.finalize()
    const report = await runRefreshChain(ARBITRUM)
    expect(report).toMatchObject({ behind: 6, entries: 2 })
    expect(report.through).toBeGreaterThanOrEqual(final)
    for (const vault of [good, bad[0] as Address]) expect(await positionIn(vault)).toMatchObject({ depositCount: 1 })

    // The node now returns all past events, so the next run records the six vaults.
    rpc.rewrite = faithful
    expect(await runRefreshChain(ARBITRUM)).toMatchObject({ behind: 0, entries: 6 })
    await chain.finalize()
    rpc.bodies.length = 0
    expect(await runRefreshChain(ARBITRUM)).toMatchObject({ behind: 0, entries: 0 })
    expect(listEventCalls(rpc)).toHaveLength(1)
    for (const vault of late) expect(await positionIn(vault)).toMatchObject({ depositCount: 1 })
  })
})

async function requestFor({ chain, token: usdc, address: vault }: TestVault, count: number): Promise<void> {
  const fund = [call(usdc, 'mint', [MULTICALL3, BigInt(count)]), call(usdc, 'approve', [vault, BigInt(count)])]
  const requests = Array.from({ length: count }, (_, i) =>
    call(vault, 'requestDeposit', [1n, numberToHex(0xacc000 + i, { size: 20 }), MULTICALL3]),
  )
  const calls = [...fund, ...requests].map((one) => ({ ...one, allowFailure: false }))
  for (let start = 0; start < calls.length; start += 100) {
    const { target, callData } = call(MULTICALL3, 'aggregate3', [calls.slice(start, start + 100)])
    await transact(chain, [{ label: 'requests', from: ALICE.address, to: target, data: callData }])
  }
}

async function depositInto(
  chain: Service['backends']['chains'][number],
  asset: Address,
  vaults: readonly Address[],
  count: number,
): Promise<void> {
  const from = ALICE.address
  const callOf = (...of: Parameters<typeof call>) => ({ ...call(...of), allowFailure: false })
  const all = 1_000_000n * BigInt(count)
  const calls = [
    callOf(asset, 'mint', [MULTICALL3, all]),
    ...vaults.map((vault) => callOf(asset, 'approve', [vault, all])),
    ...Array.from({ length: count }, (_, i) =>
      callOf(vaults[i % vaults.length] as Address, 'deposit', [1_000_000n, from]),
    ),
  ]
  for (let start = 0; start < calls.length; start += 10) {
    const { target, callData } = call(MULTICALL3, 'aggregate3', [calls.slice(start, start + 10)])
    await transact(chain, [{ label: 'deposits', from, to: target, data: callData }])
  }
}
