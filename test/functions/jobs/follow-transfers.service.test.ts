import { type Hash, numberToHex, pad } from 'viem'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { followTransfers } from '../../../functions/jobs/refresh-chain/follow-transfers.ts'
import { transfersStore } from '../../../lib/bridge/store.ts'
import type { Transfer as Recorded } from '../../../lib/bridge/transfer.ts'
import { createRpc } from '../../../lib/chain/nodes.ts'
import { chainReader } from '../../../lib/chain/reader.ts'
import { evmChain } from '../../../lib/chain/registry.ts'
import { AppError } from '../../../lib/errors.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { someContext } from '../../support/lambda.ts'
import { ARBITRUM, BASE } from '../../support/oracles.ts'
import { type Report, recordAll, refresh } from '../../support/records.ts'
import { type HttpReply, type Service, USERS } from '../../support/service.ts'
import { type Told, toldTo } from '../../support/told-events.ts'
import { test as base, type Transfer, type Transfers } from '../../support/transfers.ts'
import { expectSuccess, openLagoonVault, openYieldVault, type TestVault } from '../../support/vaults.ts'
import type { Wire } from '../../support/wire.ts'

const [ALICE, BOB] = USERS

const test = base
  /** One run of Arbitrum's job, so many seconds later: its report on transfers, and how many requests were made. */
  .extend('run', async ({ service, clock }) => {
    vi.resetModules()
    const { handler } = await import('../../../functions/jobs/refresh-chain/handler.ts')
    return async (seconds = 60) => {
      clock.pass(seconds)
      for (const { bodies } of Object.values(service.rpc)) bodies.length = 0
      service.table.tries.length = 0
      const report = (await handler({ chainId: ARBITRUM }, someContext())) as Report
      const { openTransfers: open, endedTransfers: ended, untoldVaults: untold } = report
      const calls = service.rpc[BASE]?.bodies.reduce((sum, body) => sum + [JSON.parse(body)].flat().length, 0)
      const asked = (chainId: number) => service.rpc[chainId]?.bodies.length ?? 0
      const ofTransfers = service.table.tries.filter(({ body }) => /TRANSFER#|followedTransfers/.test(body)).length
      return { open, ended, untold, source: asked(ARBITRUM), destination: asked(BASE), calls, ofTransfers }
    }
  })

/** Transfers of one transaction into a vault, about which a client that has it has asked. */
async function openKnown(transfers: Transfers, vault: TestVault, count: number): Promise<readonly Transfer[]> {
  const opened = await transfers.openTogether(
    Array.from({ length: count }, (_, i) => ({ into: vault, inputAmount: 50_000_000n + BigInt(i) })),
  )
  for (let asked = 0; asked < count; asked += 10) {
    await Promise.all(opened.slice(asked, asked + 10).map((transfer) => transfer.ask({ key: vault.key })))
  }
  return opened
}

/** A deposit of 60 USDC of Alice's into a synchronous vault. */
async function holdIn(vault: TestVault): Promise<void> {
  await vault.mint(ALICE.address, 60_000_000n)
  expectSuccess(await vault.send(ALICE, await vault.deposit(ALICE, 60_000_000n)))
}

/** Asks a question that waits at the transfer's destination until it is told to finish. */
async function askSlowly(service: Service, ask: () => Promise<HttpReply>): Promise<() => Promise<HttpReply>> {
  const destination = service.rpc[BASE] as Wire
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

describe('A run of the job', () => {
  test('asks one thing about all transfers that wait, and follows those into a vault to their end, some a run', async ({
    transfers,
    run,
    service,
  }) => {
    const none = await run()
    expect(none).toMatchObject({ open: 0, ended: 0, destination: 0, ofTransfers: 1 })
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const opened = await openKnown(transfers, vault, 9)
    const waiting = await run()
    // One call for them all; the page, and when each is looked at next.
    expect(waiting).toMatchObject({ open: 9, ended: 0, destination: 1, calls: 1, ofTransfers: 10 })

    await fillTogether(transfers, opened)
    const told: number[] = []
    for (let minute = 0; minute < 5; minute += 1) {
      const { ended, calls } = await run()
      expect(calls).toBeLessThanOrEqual(12)
      told.push(ended)
    }
    expect(Math.max(...told)).toBeLessThan(9)
    await transfers.finalise()
    for (let look = 0; look < 8; look += 1) await run(1_200)

    expect(await run(3_600)).toMatchObject({ open: 0, destination: 0 })
    for (const wire of Object.values(service.rpc)) wire.bodies.length = 0
    for (const { ask } of [opened[0] as Transfer, opened.at(-1) as Transfer]) {
      expect((await ask()).body).toMatchObject({ status: 'completed', terminal: true, final: true })
    }
    // Asked about after that, they cost nothing.
    expect(Object.values(service.rpc).flatMap(({ bodies }) => bodies)).toEqual([])

    const events = (await toldTo(service, vault.key)).filter(({ type }) => type.startsWith('transfer.'))
    expect(events).toHaveLength(9)
    expect(events[0]).toMatchObject({
      type: 'transfer.completed',
      final: true,
      data: { chainId: BASE, vaultAddress: vault.address, status: 'completed', final: true },
    })
    expect(await run(3_600)).toMatchObject({ open: 0 })
    expect(await toldTo(service, vault.key)).toHaveLength(events.length)
  })

  test("follows what an account that is recorded in a client's vault sends to its own address, and nobody else's", async ({
    transfers,
    run,
    service,
  }) => {
    await transfers.finalise()
    const vault = await openYieldVault(service, { chainId: ARBITRUM })
    await holdIn(vault)
    expectSuccess(await vault.send(ALICE, await vault.withdraw(ALICE, { amount: '50000000' })))
    const another = await openYieldVault(service, { chainId: ARBITRUM, asset: 'DAI' })

    const sent = await transfers.open()
    const others = [await transfers.open({ user: BOB }), await transfers.open({ recipient: BOB.address })]
    await sent.shows('bridging', { key: vault.key })
    // Nothing is recorded of the account yet.
    expect(await run()).toMatchObject({ open: 0 })
    await recordAll(vault.chain)
    for (const one of others) await one.shows('bridging', { key: vault.key })
    await sent.shows('bridging', { key: another.key })
    expect(await run()).toMatchObject({ open: 0 })
    await sent.shows('bridging', { key: vault.key })
    expect(await run()).toMatchObject({ open: 1, ended: 0 })
    await transfers.relayer.fill(sent.deposit)
    expect(await run(3_600)).toMatchObject({ open: 1, ended: 1 })
    await transfers.finalise()
    const source = service.rpc[ARBITRUM] as Wire
    source.rewrite = (answer, request) => {
      if (!request.includes('eth_getLogs')) return answer
      const answers: { readonly id: number }[] = [JSON.parse(answer)].flat()
      const refused = answers.map(({ id }) => ({ id, jsonrpc: '2.0', error: { code: -32000, message: 'not now' } }))
      return JSON.stringify(answer.startsWith('[') ? refused : refused[0])
    }
    for (let look = 0; look < 3; look += 1) await run(3_600).catch(() => {})
    // It is not known which vault paid it.
    expect((await toldTo(service, vault.key)).filter(({ type }) => type.startsWith('transfer.'))).toEqual([])
    source.reset()
    for (let look = 0; look < 3; look += 1) await run(3_600)
    expect(await run(3_600)).toMatchObject({ open: 0, untold: 0 })
    expect((await toldTo(service, vault.key)).filter(({ type }) => type.startsWith('transfer.'))).toMatchObject([
      { type: 'transfer.completed', data: { chainId: ARBITRUM, vaultAddress: vault.address, action: 'none' } },
    ])
    expect((await toldTo(service, another.key)).filter(({ type }) => type.startsWith('transfer.'))).toEqual([])
  })

  test("does not follow transfers that end in nobody's vault", async ({ transfers, run, service }) => {
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

  test('follows a transfer of which a client without its vault asked a moment before, and recorded it a moment after', async ({
    transfers,
    run,
    service,
  }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const key = await service.createClient([])
    const transfer = await transfers.open({ into: vault })
    const finish = await askSlowly(service, () => transfer.ask({ key }))
    await transfer.shows('bridging', { key: vault.key, protocol: 'lagoon' })
    expect((await finish()).status).toBe(200)
    expect(await run()).toMatchObject({ open: 1 })
  })

  test('follows a transfer whose end another client asked for, and had recorded, a moment before', async ({
    transfers,
    run,
    service,
  }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const key = await service.createClient([])
    const transfer = await transfers.open({ into: vault })
    const finish = await askSlowly(service, () => transfer.ask({ key: vault.key }))
    const fill = await transfers.relayer.fill(transfer.deposit)
    await transfers.finalise()
    await transfer.becomes('completed', { key, fill, final: true })
    expect((await finish()).status).toBe(200)
    for (let look = 0; look < 2; look += 1) await run()
    const told = (await toldTo(service, vault.key)).filter(({ type }) => type.startsWith('transfer.'))
    expect(told).toMatchObject([{ type: 'transfer.completed', final: true }])
  })

  test('leaves a transfer whose destination cannot be read for another run, and goes on with its chain', async ({
    transfers,
    run,
    service,
  }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const [transfer] = (await openKnown(transfers, vault, 1)) as [Transfer]
    await transfers.relayer.fill(transfer.deposit)
    const destination = service.rpc[BASE] as Wire
    destination.behaviour = 'answer 500'
    expect(await run()).toMatchObject({ ended: 0 })
    expect(await refresh(ARBITRUM)).toMatchObject({ outcome: 'refreshed' })
    destination.behaviour = 'pass'
    expect(await run(3_600)).toMatchObject({ ended: 1 })
  })

  test('counts transfers of which clients cannot be told how they have ended, and tells them when they can be', async ({
    transfers,
    run,
    service,
  }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const [transfer] = (await openKnown(transfers, vault, 1)) as [Transfer]
    await transfers.relayer.fill(transfer.deposit)
    await run()
    await transfers.finalise()
    const { lies } = service.backends.queues
    onTestFinished(() => {
      lies.down = false
    })
    lies.down = true
    const untold: number[] = []
    for (let look = 0; look < 6; look += 1) untold.push((await run(3_600)).untold)
    expect(untold.slice(-2).every((count) => count > 0)).toBe(true)
    lies.down = false
    expect(await run()).toMatchObject({ untold: 0 })
    const told = (await toldTo(service, vault.key)).filter(({ type }) => type.startsWith('transfer.'))
    expect(told).toMatchObject([{ type: 'transfer.completed', final: true }])
  })

  test('looks at each transfer ever more seldom', async ({ transfers, run, service }) => {
    await transfers.finalise()
    for (let look = 0; look < 2; look += 1) await run(3_600)
    const vault = await openLagoonVault(service, { generation: '0.5' })
    await openKnown(transfers, vault, 2)
    expect(await run()).toMatchObject({ open: 2, ofTransfers: 3 })
    await run(36_000)
    expect(await run(600)).toMatchObject({ open: 0 })
    expect((await run(3_600)).open).toBeGreaterThan(0)
  })
})

describe('A client that wants to know what is not final', () => {
  /** A transfer into a vault of two clients, of which one wants to know at once. */
  const openWatched = async (transfers: Transfers, service: Service) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const body = { url: 'https://127.0.0.1:9/', finality: 'latest' }
    expect((await service.call('POST', '/webhooks', { key: vault.key, body })).status).toBe(201)
    const other = await service.createClient([{ chainId: BASE, address: vault.address }])
    const [transfer] = (await openKnown(transfers, vault, 1)) as [Transfer]
    return { vault, other, transfer }
  }
  const ofTransfers = async (service: Service, key: string) =>
    (await toldTo(service, key)).filter(({ type }) => type.startsWith('transfer.'))
  const shown = (events: readonly Told[]) => events.map(({ type, final }) => [type, final])

  test('is told at once that a transfer has arrived, and again as final, whenever runs are killed', async ({
    transfers,
    run,
    service,
  }) => {
    const { vault, other } = await service.restore('filled', async () => {
      const { transfer, ...known } = await openWatched(transfers, service)
      await transfers.relayer.fill(transfer.deposit)
      return known
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
    const told = [
      ['transfer.completed', false],
      ['transfer.completed', true],
    ]
    expect(shown(await ofTransfers(service, vault.key))).toEqual(told)
    expect(shown(await ofTransfers(service, other))).toEqual(told.slice(1))
  })

  test('is told in the vault that paid what was sent, and nobody else, though it is not final what it paid', async ({
    transfers,
    run,
    service,
  }) => {
    await transfers.finalise()
    const harbor = await openYieldVault(service, { chainId: ARBITRUM })
    const cove = await openYieldVault(service, { chainId: ARBITRUM })
    // What the account had in both long ago, and that one of them paid it lately, says nothing of which one pays now.
    for (const vault of [harbor, cove]) await holdIn(vault)
    expectSuccess(await harbor.send(ALICE, await harbor.withdraw(ALICE, { amount: '60000000' })))
    await recordAll(cove.chain)
    const body = { url: 'https://127.0.0.1:9/', finality: 'latest' }
    expect((await service.call('POST', '/webhooks', { key: cove.key, body })).status).toBe(201)
    expectSuccess(await cove.send(ALICE, await cove.withdraw(ALICE, { amount: '50000000' })))
    const sent = await transfers.open()
    await sent.shows('bridging', { key: cove.key })
    await transfers.relayer.fill(sent.deposit)
    for (let look = 0; look < 3; look += 1) await run(600)
    expect(shown(await ofTransfers(service, cove.key))).toEqual([['transfer.completed', false]])

    await transfers.finalise()
    for (let look = 0; look < 4; look += 1) await run(3_600)
    const told = await ofTransfers(service, cove.key)
    expect(shown(told)).toEqual([
      ['transfer.completed', false],
      ['transfer.completed', true],
    ])
    for (const { data } of told) {
      expect(data).toMatchObject({ chainId: ARBITRUM, vaultAddress: cove.address, userAddress: ALICE.address })
    }
    expect(await ofTransfers(service, harbor.key)).toEqual([])
  })

  test('is not told of what an account sends that no vault paid it', async ({ transfers, run, service }) => {
    await transfers.finalise()
    const vault = await openYieldVault(service, { chainId: ARBITRUM })
    const body = { url: 'https://127.0.0.1:9/', finality: 'latest' }
    expect((await service.call('POST', '/webhooks', { key: vault.key, body })).status).toBe(201)
    await holdIn(vault)
    expectSuccess(await vault.send(ALICE, await vault.withdraw(ALICE, { amount: '49999999' })))
    await recordAll(vault.chain)
    const sent = await transfers.open()
    await sent.shows('bridging', { key: vault.key })
    await transfers.relayer.fill(sent.deposit)
    await transfers.finalise()
    for (let look = 0; look < 5; look += 1) await run(3_600)
    expect(await ofTransfers(service, vault.key)).toEqual([])
    // And nobody looks at it any more.
    expect(await run(3_600)).toMatchObject({ open: 0, untold: 0 })
  })

  test('is told that a transfer has not ended so after a reorganisation, and how it has', async ({
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

test('Of the transfers that are due the table gives those that have waited longest, as many as are asked for', async ({
  transfers,
  service,
}) => {
  const table = transfersStore(service.tables.deposits)
  const { hash, ask } = await transfers.open({ into: await openLagoonVault(service, { generation: '0.5' }) })
  await ask()
  const known = await table.get({ sourceChainId: ARBITRUM, transactionHash: hash, index: 0 })
  if (!known) throw new Error('Nothing is recorded')
  for (const minutes of [3, 1, 4, 2, 5]) {
    const key = { sourceChainId: 10, transactionHash: pad(numberToHex(minutes)), index: 0 }
    await table.record(key, { ...known, lookAt: new Date(minutes * 60_000) })
  }
  const due = async (until: number, most: number) =>
    (await table.listDue(10, until * 60_000, most)).map(({ key }) => Number(key.transactionHash))
  expect(await due(4, 3)).toEqual([1, 2, 3])
  expect(await due(4, 100)).toEqual([1, 2, 3, 4])
})

const HOUR = 3_600_000

/** Transfers from Arbitrum that nobody made and nobody fills: to which chain, and whether the deadline has passed. */
type Kind = { readonly to: number; readonly isLate: boolean }

/** A table of so many transfers. Of the chains to which they go only Base can be read. */
async function openMany(transfers: Transfers, count: number, kindOf: (index: number) => Kind) {
  const begun = Date.now()
  const clock = await transfers.clockOf(BASE)
  const word = pad(transfers.tokenOf(BASE, 'USDC'))
  const open = Array.from({ length: count }, (_, i) => {
    const amounts = { inputAmount: 1n, outputAmount: 1n, originChainId: BigInt(ARBITRUM), depositId: BigInt(i) }
    const accounts = { depositor: word, recipient: word, exclusiveRelayer: word, inputToken: word, outputToken: word }
    const { to: destinationChainId, isLate } = kindOf(i)
    const fillDeadline = isLate ? clock - 1_000 : clock + 10_000_000
    const relayData = { ...accounts, ...amounts, fillDeadline, exclusivityDeadline: 0, message: '0x' as const }
    const source = { deposit: { relayData, destinationChainId }, initiated: new Date(begun - 30 * HOUR) }
    const key = { sourceChainId: ARBITRUM, transactionHash: pad(numberToHex(i + 1)), index: 0 }
    // The last one has waited longest.
    return { key, recorded: { source: { ...source, isFinal: true }, lookAt: new Date(begun - i) } as Recorded }
  })
  const placeOf = (hash: Hash) => Number(hash) - 1
  const seen = new Set<number>()
  const unfilled: number[] = []
  const table: Parameters<typeof followTransfers>[0]['transfers'] = {
    async listDue(_, at, most) {
      const timeOf = (one: (typeof open)[number]) => one.recorded.lookAt?.getTime() ?? Number.POSITIVE_INFINITY
      const due = open.filter((one) => timeOf(one) <= at)
      const page = due.toSorted((left, right) => timeOf(left) - timeOf(right)).slice(0, most)
      for (const { key } of page) seen.add(placeOf(key.transactionHash))
      return page
    },
    async record(key, transfer) {
      if (transfer.isUnfilled) unfilled.push(placeOf(key.transactionHash))
      Object.assign(open[placeOf(key.transactionHash)] ?? {}, { recorded: transfer })
      return true
    },
    async follow() {
      return false
    },
    async postpone(key, lookAt) {
      const one = open[placeOf(key.transactionHash)]
      if (one) Object.assign(one, { recorded: { ...one.recorded, lookAt } })
      return true
    },
  }
  let now = begun
  /** A run of the job, a minute after the last: how many it had in view, and what it asked of the chains. */
  const run = async () => {
    now += 60_000
    let calls = 0
    const asked = new Set<number>()
    const getReader = (chainId: number) => {
      const chain = evmChain(chainId)
      if (!chain) throw new Error(`There is no chain ${chainId}`)
      const world = { fetch, random: () => 0, now: () => performance.now() }
      const rpc = createRpc([transfers.chainOf(BASE).rpcUrl], world)
      return chainReader(chain, async (requests) => {
        calls += requests.length
        asked.add(chainId)
        if (chainId !== BASE) throw new AppError('upstream_unavailable')
        return rpc(requests)
      })
    }
    const sources = { record: async () => undefined }
    const followed = followTransfers({ getReader, transfers: table, sources, now: () => now }, ARBITRUM)
    const { openTransfers } = await followed
    return { openTransfers, calls, asked }
  }
  return { run, seen, unfilled }
}

test('With 10,000 open transfers a run reads 100 of them and asks the chains 12 calls at most, and all have their turn', async ({
  transfers,
}) => {
  const DESTINATIONS = [BASE, 1, 10, 56, 137] as const
  const { run, seen } = await openMany(transfers, 10_000, (index) => ({
    to: DESTINATIONS[index % 5] ?? BASE,
    isLate: index % 4 === 0,
  }))
  const asked = new Set<number>()
  for (let minute = 0; minute < 6; minute += 1) {
    const { openTransfers, calls, asked: now } = await run()
    expect(openTransfers).toBe(100)
    expect(calls).toBeLessThanOrEqual(12)
    // A whole look is left after what the pools are asked.
    expect(now.size).toBe(4)
    for (const chainId of now) asked.add(chainId)
  }
  expect(asked).toEqual(new Set(DESTINATIONS))
  // Those that a run did not come to are in view again.
  expect(seen.size).toBeGreaterThanOrEqual(5 * 75)
})

test('When all open transfers end together, those that have waited longest are looked into first, and none is passed over', async ({
  transfers,
}) => {
  const COUNT = 12
  const { run, unfilled } = await openMany(transfers, COUNT, () => ({ to: BASE, isLate: true }))
  for (let minute = 0; minute < COUNT; minute += 1) expect((await run()).calls).toBeLessThanOrEqual(12)
  expect(unfilled).toEqual(Array.from({ length: COUNT }, (_, place) => COUNT - 1 - place))
})
