import { type Hash, numberToHex, pad } from 'viem'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { followTransfers } from '../../../functions/jobs/refresh-chain/follow-transfers.ts'
import { transfersStore } from '../../../lib/bridge/store.ts'
import type { Transfer as Recorded } from '../../../lib/bridge/transfer.ts'
import { requireValue } from '../../../lib/chain/call.ts'
import { createRpc } from '../../../lib/chain/nodes.ts'
import { createChainReader } from '../../../lib/chain/reader.ts'
import { evmChain } from '../../../lib/chain/registry.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { createDepositJourney, createWithdrawalJourney } from '../../support/cross-chain.ts'
import { someContext } from '../../support/lambda.ts'
import { ARBITRUM, BASE } from '../../support/oracles.ts'
import { listEvents, type ReceivedEvent } from '../../support/received-events.ts'
import { type RefreshReport, runRefreshChain } from '../../support/records.ts'
import { type HttpReply, type Service, USERS } from '../../support/service.ts'
import { someTransfer } from '../../support/some-transfer.ts'
import { test as base, type Transfer, type Transfers } from '../../support/transfers.ts'
import { expectSuccess, openLagoonVault, openYieldVault, type TestVault } from '../../support/vaults.ts'
import type { RecordingProxy } from '../../support/wire.ts'

const [ALICE, BOB] = USERS
/** Maximum calls of a run: 40 for single transfers, and one for each destination chain of a test. */
const MAX_CALLS_OF_RUN = 45

const test = base
  /**
   * Advances the clock by `seconds` and runs the job refresh-chain for Arbitrum. Returns its report on transfers and
   * its numbers of requests.
   */
  .extend('run', async ({ service, clock }) => {
    vi.resetModules()
    const { handler } = await import('../../../functions/jobs/refresh-chain/handler.ts')
    return async (seconds = 60) => {
      clock.pass(seconds)
      for (const { bodies } of Object.values(service.rpc)) bodies.length = 0
      service.table.tries.length = 0
      const report = (await handler({ chainId: ARBITRUM }, someContext())) as RefreshReport
      const { openTransfers: open, endedTransfers: ended, unreportedVaults: unreported } = report
      const calls = service.rpc[BASE]?.bodies.reduce((sum, body) => sum + [JSON.parse(body)].flat().length, 0)
      const countRequests = (chainId: number) => service.rpc[chainId]?.bodies.length ?? 0
      const ofTransfers = service.table.tries.filter(({ body }) => /TRANSFER#|followedTransfers/.test(body)).length
      return {
        open,
        ended,
        unreported,
        source: countRequests(ARBITRUM),
        destination: countRequests(BASE),
        calls,
        ofTransfers,
      }
    }
  })

/**
 * Opens transfers into a vault in one transaction. Requests their status with the vault's client, so that the service
 * stores them.
 */
async function openTracked(transfers: Transfers, vault: TestVault, count: number): Promise<readonly Transfer[]> {
  const opened = await transfers.openTogether(
    Array.from({ length: count }, (_, i) => ({ into: vault, inputAmount: 50_000_000n + BigInt(i) })),
  )
  for (let start = 0; start < count; start += 10) {
    await Promise.all(opened.slice(start, start + 10).map((transfer) => transfer.ask({ key: vault.key })))
  }
  return opened
}

async function depositInto(vault: TestVault): Promise<void> {
  await vault.mint(ALICE.address, 60_000_000n)
  expectSuccess(await vault.send(ALICE, await vault.deposit(ALICE, 60_000_000n)))
}

/** Starts a request that waits for its destination chain. The returned function ends the wait and returns the reply. */
async function holdRequest(service: Service, ask: () => Promise<HttpReply>): Promise<() => Promise<HttpReply>> {
  const destination = service.rpc[BASE] as RecordingProxy
  const { promise, resolve } = Promise.withResolvers<void>()
  destination.bodies.length = 0
  destination.hold = promise
  const asking = ask()
  await expect.poll(() => destination.bodies.length).toBeGreaterThan(0)
  destination.hold = undefined
  return () => {
    resolve()
    return asking
  }
}

async function fillTogether(transfers: Transfers, opened: readonly Transfer[]): Promise<void> {
  await transfers.sendTogether(
    BASE,
    opened.flatMap((transfer) => transfers.fillCalls(transfer)),
  )
}

function expectOk(reply: HttpReply): HttpReply {
  expect(reply).toMatchObject({ status: 200 })
  return reply
}

describe('A run of the job', () => {
  test('makes one call for all open transfers, and follows some of those into a vault in each run', async ({
    transfers,
    run,
    service,
  }) => {
    const none = await run()
    expect(none).toMatchObject({ open: 0, ended: 0, destination: 0, ofTransfers: 1 })
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const opened = await openTracked(transfers, vault, 20)
    const waiting = await run()
    // One call to the destination chain serves all twenty transfers. The table gets 21 requests: one page of
    // transfers, and the time of the next check for each.
    expect(waiting).toMatchObject({ open: 20, ended: 0, destination: 1, calls: 1, ofTransfers: 21 })

    await fillTogether(transfers, opened)
    const endedCounts: number[] = []
    for (let minute = 0; minute < 5; minute += 1) {
      const { ended, calls } = await run()
      expect(calls).toBeLessThanOrEqual(MAX_CALLS_OF_RUN)
      endedCounts.push(ended)
    }
    expect(Math.max(...endedCounts)).toBeLessThan(20)
    await transfers.finalise()
    for (let look = 0; look < 10; look += 1) await run(1_200)

    expect(await run(3_600)).toMatchObject({ open: 0, destination: 0 })
    for (const wire of Object.values(service.rpc)) wire.bodies.length = 0
    for (const { ask } of [opened[0] as Transfer, opened.at(-1) as Transfer]) {
      expect((await ask()).body).toMatchObject({ status: 'completed', terminal: true, final: true })
    }
    // A status request reads no chain for a transfer that has ended, because the service stores the final status.
    expect(Object.values(service.rpc).flatMap(({ bodies }) => bodies)).toEqual([])

    const events = (await listEvents(service, vault.key)).filter(({ type }) => type.startsWith('transfer.'))
    expect(events).toHaveLength(20)
    expect(events[0]).toMatchObject({
      type: 'transfer.completed',
      final: true,
      data: { chainId: BASE, vaultAddress: vault.address, status: 'completed', final: true },
    })
    expect(await run(3_600)).toMatchObject({ open: 0 })
    expect(await listEvents(service, vault.key)).toHaveLength(events.length)
  })

  test("does not follow transfers that do not end in a client's vault", async ({ transfers, run, service }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const key = await service.createClient([])
    const [plain, other] = [await transfers.open(), await transfers.open({ into: vault })]
    await plain.shows('bridging')
    await other.shows('bridging', { key })
    expect(await run(3_600)).toMatchObject({ open: 0, ofTransfers: 1 })
    await other.shows('bridging', { key: vault.key, protocol: 'lagoon' })
    await other.shows('bridging', { key })
    expect(await run()).toMatchObject({ open: 1 })
  })

  test('follows a transfer that the request of a client without its vault records at the same moment', async ({
    transfers,
    run,
    service,
  }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const key = await service.createClient([])
    const transfer = await transfers.open({ into: vault })
    const finish = await holdRequest(service, () => transfer.ask({ key }))
    await transfer.shows('bridging', { key: vault.key, protocol: 'lagoon' })
    expect((await finish()).status).toBe(200)
    expect(await run()).toMatchObject({ open: 1 })
  })

  test('follows a transfer whose end the request of another client has just recorded', async ({
    transfers,
    run,
    service,
  }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const key = await service.createClient([])
    const transfer = await transfers.open({ into: vault })
    const finish = await holdRequest(service, () => transfer.ask({ key: vault.key }))
    const fill = await transfers.relayer.fill(transfer.deposit)
    await transfers.finalise()
    await transfer.becomes('completed', { key, fill, final: true })
    expect((await finish()).status).toBe(200)
    for (let look = 0; look < 2; look += 1) await run()
    const events = (await listEvents(service, vault.key)).filter(({ type }) => type.startsWith('transfer.'))
    expect(events).toMatchObject([{ type: 'transfer.completed', final: true }])
  })

  test('leaves a transfer with an unreadable destination to the next run and continues with its chain', async ({
    transfers,
    run,
    service,
  }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const [transfer] = (await openTracked(transfers, vault, 1)) as [Transfer]
    await transfers.relayer.fill(transfer.deposit)
    const destination = service.rpc[BASE] as RecordingProxy
    destination.behaviour = 'answer 500'
    expect(await run()).toMatchObject({ ended: 0 })
    expect(await runRefreshChain(ARBITRUM)).toMatchObject({ outcome: 'refreshed' })
    destination.behaviour = 'pass'
    expect(await run(3_600)).toMatchObject({ ended: 1 })
  })

  test('counts the transfers whose end cannot be reported, and reports them once it can', async ({
    transfers,
    run,
    service,
  }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const [transfer] = (await openTracked(transfers, vault, 1)) as [Transfer]
    await transfers.relayer.fill(transfer.deposit)
    await run()
    await transfers.finalise()
    const body = { url: 'https://127.0.0.1:9/' }
    expect((await service.call('POST', '/webhooks', { key: vault.key, body })).status).toBe(201)
    const { faults } = service.backends.queues
    onTestFinished(() => {
      faults.down = false
    })
    faults.down = true
    const unreported: number[] = []
    for (let look = 0; look < 6; look += 1) unreported.push((await run(3_600)).unreported)
    expect(unreported.slice(-2).every((count) => count > 0)).toBe(true)
    faults.down = false
    expect(await run()).toMatchObject({ unreported: 0 })
    const events = (await listEvents(service, vault.key)).filter(({ type }) => type.startsWith('transfer.'))
    expect(events).toMatchObject([{ type: 'transfer.completed', final: true }])
  })

  test('checks each transfer less and less often', async ({ transfers, run, service }) => {
    await transfers.finalise()
    for (let look = 0; look < 2; look += 1) await run(3_600)
    const vault = await openLagoonVault(service, { generation: '0.5' })
    await openTracked(transfers, vault, 2)
    expect(await run()).toMatchObject({ open: 2, ofTransfers: 3 })
    await run(36_000)
    expect(await run(600)).toMatchObject({ open: 0 })
    expect((await run(3_600)).open).toBeGreaterThan(0)
  })
})

describe('A client that subscribes to events before they are final', () => {
  const openWatched = async (transfers: Transfers, service: Service) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const body = { url: 'https://127.0.0.1:9/', finality: 'latest' }
    expect((await service.call('POST', '/webhooks', { key: vault.key, body })).status).toBe(201)
    const other = await service.createClient([{ chainId: BASE, address: vault.address }])
    const [transfer] = (await openTracked(transfers, vault, 1)) as [Transfer]
    return { vault, other, transfer }
  }
  const ofTransfers = async (service: Service, key: string) =>
    (await listEvents(service, key)).filter(({ type }) => type.startsWith('transfer.'))
  const shown = (events: readonly ReceivedEvent[]) => events.map(({ type, final }) => [type, final])

  test('is notified immediately that a transfer has arrived, and again as final, whenever runs are killed', async ({
    transfers,
    run,
    service,
  }) => {
    const { vault, other } = await service.restore('filled', async () => {
      const { transfer, ...context } = await openWatched(transfers, service)
      await transfers.relayer.fill(transfer.deposit)
      return context
    })
    let isOver = false
    for (let count = 1; !isOver; count += 1) {
      await service.restore('filled', async () => undefined)
      const isKilled = service.table.killAt(count)
      for (let look = 0; look < 3; look += 1) await run(600).catch(() => {})
      isOver = !isKilled()
      service.table.reset()
      for (let look = 0; look < 3; look += 1) await run(600)
      const early = await ofTransfers(service, vault.key)
      expect(shown(early)).toEqual([['transfer.completed', false]])
      expect(early[0]?.data).toMatchObject({ vaultAddress: vault.address, userAddress: ALICE.address, final: false })
      expect(await ofTransfers(service, other)).toEqual([])
    }
    await transfers.finalise()
    for (let look = 0; look < 3; look += 1) await run(3_600)
    const expectedEvents = [
      ['transfer.completed', false],
      ['transfer.completed', true],
    ]
    expect(shown(await ofTransfers(service, vault.key))).toEqual(expectedEvents)
    expect(shown(await ofTransfers(service, other))).toEqual(expectedEvents.slice(1))
  })

  test('is notified after a reorganisation that a transfer did not end so, and how it ended', async ({
    transfers,
    run,
    service,
  }) => {
    const { vault, other, transfer } = await openWatched(transfers, service)
    const base = transfers.chainOf(BASE)
    const [snapshot] = await callRpc(base, [{ method: 'evm_snapshot', params: [] }])
    await transfers.relayer.fill(transfer.deposit)
    for (let look = 0; look < 2; look += 1) await run(600)
    const [early] = await ofTransfers(service, vault.key)
    expect(early).toMatchObject({ type: 'transfer.completed', final: false })

    await callRpc(base, [{ method: 'evm_revert', params: [snapshot] }])
    await transfers.setClock(BASE, (await transfers.clockOf(BASE)) + 60)
    await transfers.relayer.fill(transfer.deposit)
    for (let look = 0; look < 2; look += 1) await run(3_600)
    await transfers.finalise()
    for (let look = 0; look < 3; look += 1) await run(3_600)
    const [, reverted, ...again] = await ofTransfers(service, vault.key)
    expect(reverted).toMatchObject({ type: 'transfer.reverted', final: false, data: { eventId: early?.id } })
    expect(shown(again)).toEqual([
      ['transfer.completed', false],
      ['transfer.completed', true],
    ])
    expect(shown(await ofTransfers(service, other))).toEqual([['transfer.completed', true]])
  })
})

describe('A transfer whose status no client requests', () => {
  test('is found by its quote, and its arrival or refund is reported', async ({ transfers, run, service }) => {
    await transfers.finalise()
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const payer = await openYieldVault(service, { chainId: ARBITRUM })
    await depositInto(payer)
    const into = createDepositJourney(vault, service, ARBITRUM)
    const outOf = createWithdrawalJourney(payer, service, BASE)
    const deposit = expectOk(await into.ask(BOB, 70_000_000n))
    const lost = expectOk(await into.ask(BOB, 80_000_000n))
    const withdrawal = expectOk(await outOf.ask(ALICE, { amount: '50000000' }))
    // The job finds no transfer, because the users have not sent the prepared transactions.
    expect(await run(1)).toMatchObject({ open: 0 })
    const sent = [await into.send(BOB, deposit), await payer.send(ALICE, withdrawal)]
    // The job must not mistake another transaction of the same account for the prepared transfer.
    await transfers.open({ user: BOB })
    expect(await run(1)).toMatchObject({ open: 2 })
    await into.fill(sent[0] ?? [])
    await outOf.fill(sent[1] ?? [])
    await into.send(BOB, lost)
    for (let look = 0; look < 3; look += 1) await run(600)
    await transfers.finalise()
    for (let look = 0; look < 4; look += 1) await run(3_600)
    const ofTransfers = async (key: string) =>
      (await listEvents(service, key)).filter(({ type }) => type.startsWith('transfer.'))
    expect(await ofTransfers(payer.key)).toMatchObject([
      {
        type: 'transfer.completed',
        data: { chainId: ARBITRUM, vaultAddress: payer.address, userAddress: ALICE.address, action: 'none' },
      },
    ])
    expect(await ofTransfers(vault.key)).toMatchObject([
      {
        type: 'transfer.completed',
        data: { chainId: BASE, vaultAddress: vault.address, userAddress: BOB.address, inputAmount: '70000000' },
      },
    ])

    const [relay] = await transfers.relayer
      .listDeposits()
      .then((all) => all.filter(({ deposit: { inputAmount } }) => inputAmount === 80_000_000n))
    if (!relay) throw new Error('The pool took no deposit')
    await transfers.relayer.expire(relay.deposit)
    await transfers.finalise()
    for (let look = 0; look < 3; look += 1) await run(3_600)
    await transfers.relayer.refund(relay.deposit)
    await transfers.finalise()
    for (let look = 0; look < 4; look += 1) await run(3_600)
    expect((await ofTransfers(vault.key)).at(-1)).toMatchObject({
      type: 'transfer.refunded',
      data: { inputAmount: '80000000', refund: { amount: '80000000', chainId: ARBITRUM } },
    })
    expect(await run(3_600)).toMatchObject({ open: 0, unreported: 0 })
  })

  test('is followed after a reorganisation includes its deposit again with another id', async ({
    transfers,
    run,
    service,
  }) => {
    await transfers.finalise()
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const into = createDepositJourney(vault, service, ARBITRUM)
    const prepared = expectOk(await into.ask(BOB, 60_000_000n))
    const [{ to: target, data: callData }] = prepared.body.operations
    const include = () => transfers.send(ARBITRUM, BOB.address, { target, callData })
    const { hash } = await transfers.reorganise({
      chainId: ARBITRUM,
      token: transfers.tokenOf(ARBITRUM, 'USDC'),
      include,
      between: () => run(1),
    })
    const [transfer] = await transfers.transfersIn(ARBITRUM, hash)
    if (!transfer) throw new Error('The pool took no deposit')
    for (let look = 0; look < 3; look += 1) await run(600)
    await transfers.relayer.fill(transfer.deposit)
    await transfers.finalise()
    for (let look = 0; look < 5; look += 1) await run(3_600)
    const ofTransfers = async () =>
      (await listEvents(service, vault.key)).filter(({ type }) => type.startsWith('transfer.'))
    const completed = [{ type: 'transfer.completed', data: { transactions: { source: hash } } }]
    expect(await ofTransfers()).toMatchObject(completed)
    // The deposit id from before the reorganisation expires unfilled. The job must report no event for that deposit.
    await transfers.letExpire(transfer)
    await transfers.finalise()
    for (let look = 0; look < 3; look += 1) await run(3_600)
    expect(await ofTransfers()).toMatchObject(completed)
    expect(await run(3_600)).toMatchObject({ open: 0 })
  })
})

test('The table returns as many due transfers as requested, longest waiting first', async ({ transfers, service }) => {
  const table = transfersStore(service.tables.deposits)
  const { hash, ask } = await transfers.open({ into: await openLagoonVault(service, { generation: '0.5' }) })
  await ask()
  const sent = await table.getSent({ sourceChainId: ARBITRUM, hash })
  const { depositor, relayHash = hash } = requireValue(sent?.deposits[0])
  const [record] = await table.getMany([{ sourceChainId: ARBITRUM, depositor, relayHash }])
  if (!record) throw new Error('Nothing is recorded')
  for (const minutes of [3, 1, 4, 2, 5]) {
    const key = { sourceChainId: 10, depositor, relayHash: pad(numberToHex(minutes)) }
    await table.record(key, { ...record.recorded, lookAt: new Date(minutes * 60_000) })
  }
  const due = async (until: number, most: number) =>
    (await table.listDue(10, until * 60_000, most)).map(({ key }) => Number(key.relayHash))
  expect(await due(4, 3)).toEqual([1, 2, 3])
  expect(await due(4, 100)).toEqual([1, 2, 3, 4])
})

const HOUR = 3_600_000

/**
 * Properties of an unfilled transfer from Arbitrum. `to` is the destination chain. `isLate` is true if the fill
 * deadline has passed.
 */
type TransferKind = { readonly to: number; readonly isLate: boolean }

/** Simulates a table with `count` open transfers. The only chain that can be read is Base. */
async function openMany(transfers: Transfers, count: number, kindOf: (index: number) => TransferKind) {
  const begun = Date.now()
  const clock = await transfers.clockOf(BASE)
  const depositor = transfers.tokenOf(BASE, 'USDC')
  const open = Array.from({ length: count }, (_, i) => {
    const { to, isLate } = kindOf(i)
    const fillDeadline = isLate ? clock - 1_000 : clock + 10_000_000
    const transfer = someTransfer(depositor, { id: i, to, fillDeadline, at: new Date(begun - 30 * HOUR) })
    const key = { sourceChainId: ARBITRUM, depositor, relayHash: pad(numberToHex(i + 1)) }
    // Later transfers in the list have waited longer for a check by the job.
    const recorded: Recorded = { ...transfer, lookAt: new Date(begun - i) }
    return { key, recorded }
  })
  const placeOf = (hash: Hash) => Number(hash) - 1
  const loadedPlaces = new Set<number>()
  const unfilled: number[] = []
  const table: Partial<Parameters<typeof followTransfers>[0]['transfers']> = {
    async listDue(_, at, most) {
      const timeOf = (one: (typeof open)[number]) => one.recorded.lookAt?.getTime() ?? Number.POSITIVE_INFINITY
      const due = open.filter((one) => timeOf(one) <= at)
      const page = due.toSorted((left, right) => timeOf(left) - timeOf(right)).slice(0, most)
      for (const { key } of page) loadedPlaces.add(placeOf(key.relayHash))
      return page
    },
    async record(key, transfer) {
      if (transfer.isUnfilled) unfilled.push(placeOf(key.relayHash))
      Object.assign(open[placeOf(key.relayHash)] ?? {}, { recorded: transfer })
      return true
    },
    async follow() {
      return false
    },
    async postpone(key, lookAt) {
      const one = open[placeOf(key.relayHash)]
      if (one) Object.assign(one, { recorded: { ...one.recorded, lookAt } })
      return true
    },
  }
  let now = begun
  /**
   * Runs the job one minute after its last run. Returns the number of loaded transfers, the number of calls to nodes,
   * and the chains that were read.
   */
  const run = async () => {
    now += 60_000
    let calls = 0
    const chainIds = new Set<number>()
    const getReader = (chainId: number) => {
      const chain = evmChain(chainId)
      if (!chain) throw new Error(`There is no chain ${chainId}`)
      const world = { fetch, random: () => 0, now: () => performance.now() }
      const rpc = createRpc([transfers.chainOf(BASE).rpcUrl], world)
      return createChainReader(chain, async (requests) => {
        calls += requests.length
        chainIds.add(chainId)
        if (chainId !== BASE) throw new AppError('upstream_unavailable')
        return rpc(requests)
      })
    }
    const services = {
      getReader,
      fetchHint: async () => ({}),
      quotes: { getMany: async () => [] },
      depositSources: { record: async () => undefined },
      now: () => now,
    }
    // The cast is safe, because the job calls no other methods of the store for these transfers.
    const store = table as Parameters<typeof followTransfers>[0]['transfers']
    const followed = followTransfers({ ...services, transfers: store }, ARBITRUM)
    const { openTransfers } = await followed
    return { openTransfers, calls, chainIds }
  }
  return { run, loadedPlaces, unfilled }
}

test('With 10,000 open transfers a run reads 100 and makes at most 45 calls; all are read in time', async ({
  transfers,
}) => {
  const DESTINATIONS = [BASE, 1, 10, 56, 137] as const
  const { run, loadedPlaces } = await openMany(transfers, 10_000, (index) => ({
    to: DESTINATIONS[index % 5] ?? BASE,
    isLate: index % 4 === 0,
  }))
  for (let minute = 0; minute < 6; minute += 1) {
    const { openTransfers, calls, chainIds: now } = await run()
    expect(openTransfers).toBe(100)
    expect(calls).toBeLessThanOrEqual(MAX_CALLS_OF_RUN)
    expect(now).toEqual(new Set(DESTINATIONS))
  }
  // The job postpones the transfers that it has checked. Later runs load other transfers, so `loadedPlaces` grows.
  expect(loadedPlaces.size).toBeGreaterThanOrEqual(5 * 75)
})

test('A filled transfer is reported within ten minutes beside expired ones, whose refunds take many calls to find', async ({
  transfers,
  run,
  service,
  clock,
}) => {
  const vault = await openLagoonVault(service, { generation: '0.5' })
  const expired = await transfers.openTogether(
    Array.from({ length: 20 }, (_, i) => ({
      user: BOB,
      into: vault,
      inputAmount: 1n,
      outputAmount: 1n,
      seconds: 60 + i,
    })),
  )
  // The status of one deposit in a transaction makes the job follow all of them.
  expectOk(await (expired[0] as Transfer).ask({ key: vault.key }))
  await transfers.letExpire(expired.at(-1) as Transfer)
  await transfers.finalise()
  const catchUp = async () => clock.pass(Math.max(0, (await transfers.clockOf(ARBITRUM)) - Date.now() / 1000))
  await catchUp()
  for (let minute = 0; minute < 3; minute += 1) await run()

  const transfer = await transfers.open({ user: ALICE, into: vault, inputAmount: 50_000_000n })
  expectOk(await transfer.ask({ key: vault.key }))
  await transfers.relayer.fill(transfer.deposit)
  await transfers.finalise()
  await catchUp()
  for (let minute = 0; minute < 10; minute += 1) await run()
  const completed = (await listEvents(service, vault.key)).filter(({ type }) => type === 'transfer.completed')
  expect(completed).toMatchObject([{ data: { inputAmount: '50000000' } }])
})

test('A refund is reported although another transfer is filled every minute', async ({
  transfers,
  run,
  service,
  clock,
}) => {
  const vault = await openLagoonVault(service, { generation: '0.5' })
  const lost = await transfers.open({ user: BOB, into: vault, inputAmount: 80_000_000n, seconds: 60 })
  expectOk(await lost.ask({ key: vault.key }))
  await transfers.letExpire(lost)
  await transfers.finalise()
  const catchUp = async () => clock.pass(Math.max(0, (await transfers.clockOf(ARBITRUM)) - Date.now() / 1000))
  await catchUp()
  await transfers.relayer.refund(lost.deposit)
  await transfers.finalise()
  await catchUp()
  const listRefunds = async () =>
    (await listEvents(service, vault.key)).filter(({ type }) => type === 'transfer.refunded')
  for (let minute = 0; minute < 20 && (await listRefunds()).length === 0; minute += 1) {
    const time = (await transfers.clockOf(ARBITRUM)) + 60
    for (const id of [ARBITRUM, BASE]) await transfers.setClock(id, Math.max(time, await transfers.clockOf(id)))
    const opened = await transfers.openTogether([
      { user: ALICE, into: vault, inputAmount: 50_000_000n + BigInt(minute) },
    ])
    expectOk(await (opened[0] as Transfer).ask({ key: vault.key }))
    await fillTogether(transfers, opened)
    await run()
  }
  expect(await listRefunds()).toMatchObject([{ data: { inputAmount: '80000000' } }])
})

test('When all open transfers end together, the longest waiting are checked first and none is skipped', async ({
  transfers,
}) => {
  const COUNT = 12
  const { run, unfilled } = await openMany(transfers, COUNT, () => ({ to: BASE, isLate: true }))
  for (let minute = 0; minute < COUNT; minute += 1) expect((await run()).calls).toBeLessThanOrEqual(MAX_CALLS_OF_RUN)
  expect(unfilled).toEqual(Array.from({ length: COUNT }, (_, place) => COUNT - 1 - place))
})
