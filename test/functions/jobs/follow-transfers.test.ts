import { type Hash, numberToHex, pad } from 'viem'
import { describe, expect, vi } from 'vitest'
import { followTransfers } from '../../../lib/bridge/follow.ts'
import { createRpc } from '../../../lib/chain/nodes.ts'
import { chainReader } from '../../../lib/chain/reader.ts'
import { evmChain } from '../../../lib/chain/registry.ts'
import { someContext } from '../../support/lambda.ts'
import { type Report, refresh } from '../../support/records.ts'
import { ARBITRUM, BASE, test as base, type Transfer, type Transfers } from '../../support/transfers.ts'
import { openLagoonVault, type TestVault } from '../../support/vaults.ts'
import type { Wire } from '../../support/wire.ts'

const test = base
  /** One run of Arbitrum's job, so many seconds later: its report on transfers, and how many requests were made. */
  .extend('run', ({ service, clock }) => async (seconds = 60) => {
    clock.pass(seconds)
    for (const wire of [...Object.values(service.rpc), service.table]) wire.bodies.length = 0
    vi.resetModules()
    const { handler } = await import('../../../functions/jobs/refresh-chain/handler.ts')
    const { openTransfers: open, endedTransfers: ended } = (await handler(
      { chainId: ARBITRUM },
      someContext(),
    )) as Report
    const calls = service.rpc[BASE]?.bodies.reduce((sum, body) => sum + [JSON.parse(body)].flat().length, 0)
    const asked = (chainId: number) => service.rpc[chainId]?.bodies.length ?? 0
    const ofTransfers = service.table.bodies.filter((body) => /TRANSFER#|followedTransfers/.test(body)).length
    return { open, ended, source: asked(ARBITRUM), destination: asked(BASE), calls, ofTransfers }
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

  test('has at most 100 in view, those that have waited longest, and each ever more seldom', async ({
    transfers,
    run,
    service,
  }) => {
    await transfers.finalise()
    await run(3_600)
    const vault = await openLagoonVault(service, { generation: '0.5' })
    for (const count of [45, 45, 40]) await openKnown(transfers, vault, count)
    const [first, second] = [await run(), await run()]
    expect([first.open, first.ofTransfers]).toEqual([100, 101])
    // All have had their turn, and some of them a second one.
    expect(second.open).toBeGreaterThanOrEqual(30)
    for (const seconds of [36_000, 0, 0]) await run(seconds)
    expect(await run(600)).toMatchObject({ open: 0 })
    expect((await run(3_600)).open).toBeGreaterThan(0)
  })
})

test('With 10,000 open transfers a run reads 100 of them and asks the chains about 12 calls, and all have their turn', async ({
  transfers,
}) => {
  const HOUR = 3_600_000
  let now = Date.now()
  let calls = 0
  const readerOf = (chainId: number) => {
    const chain = evmChain(chainId)
    if (!chain) throw new Error(`There is no chain ${chainId}`)
    const world = { fetch, random: () => 0, now: () => performance.now() }
    const rpc = createRpc([transfers.chainOf(chainId).rpcUrl], world)
    return chainReader(chain, (requests) => {
      calls += requests.length
      return rpc(requests)
    })
  }
  // Deposits that nobody made, so that nobody fills them; the deadline of every fourth one has passed.
  const clock = await transfers.clockOf(BASE)
  const word = pad(transfers.tokenOf(BASE, 'USDC'))
  const open = Array.from({ length: 10_000 }, (_, i) => {
    const amounts = { inputAmount: 1n, outputAmount: 1n, originChainId: BigInt(ARBITRUM), depositId: BigInt(i) }
    const accounts = { depositor: word, recipient: word, exclusiveRelayer: word, inputToken: word, outputToken: word }
    const fillDeadline = i % 4 === 0 ? clock - 1 : clock + 10_000_000
    const relayData = { ...accounts, ...amounts, fillDeadline, exclusivityDeadline: 0, message: '0x' as const }
    const deposit = { relayData, destinationChainId: BASE }
    const key = { sourceChainId: ARBITRUM, transactionHash: pad(numberToHex(i + 1)), index: 0 }
    const lookAt: Date | undefined = new Date(now - i)
    return { key, lookAt, recorded: { source: { deposit, initiated: new Date(now - 30 * HOUR), isFinal: true } } }
  })
  const seen = new Set<Hash>()
  const table: Parameters<typeof followTransfers>[0]['transfers'] = {
    async listDue(_, at, most) {
      const due = open.filter(({ lookAt }) => lookAt && lookAt.getTime() <= at)
      const page = due.toSorted((left, right) => Number(left.lookAt) - Number(right.lookAt)).slice(0, most)
      for (const { key } of page) seen.add(key.transactionHash)
      return page
    },
    async record(key, recorded) {
      Object.assign(open[Number(key.transactionHash) - 1] ?? {}, { recorded, lookAt: recorded.lookAt })
      return true
    },
    async postpone(all) {
      for (const { key, lookAt } of all) Object.assign(open[Number(key.transactionHash) - 1] ?? {}, { lookAt })
    },
  }
  const most = { calls: 0, open: 0 }
  for (let run = 0; run < 5; run += 1) {
    calls = 0
    const sources = { record: async () => undefined }
    const followed = followTransfers({ readerOf, transfers: table, sources, now: () => now }, ARBITRUM)
    const { openTransfers } = await followed
    most.calls = Math.max(most.calls, calls)
    most.open = Math.max(most.open, openTransfers)
    now += 60_000
  }
  expect(most.open).toBe(100)
  expect(most.calls).toBeGreaterThan(1)
  expect(most.calls).toBeLessThanOrEqual(12 + 7)
  expect(seen.size).toBe(500)
})
