import { describe, expect, vi } from 'vitest'
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
    const asked = (chainId: number) => service.rpc[chainId]?.bodies.length ?? 0
    const ofTransfers = service.table.bodies.filter((body) => /TRANSFER#|followedTransfers/.test(body)).length
    return { open, ended, source: asked(ARBITRUM), destination: asked(BASE), ofTransfers }
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
  test('follows transfers into a vault to their end, in as many requests as one of them takes', async ({
    transfers,
    run,
    service,
  }) => {
    const none = await run()
    expect(none).toMatchObject({ open: 0, ended: 0, destination: 0, ofTransfers: 1 })
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const opened = await openKnown(transfers, vault, 15)
    // The receipts with the head; the pool's answers.
    const waiting = await run()
    expect(waiting).toMatchObject({ open: 15, ended: 0, destination: 1, ofTransfers: 16 })

    await fillTogether(transfers, opened)
    // The pool's answers, the search for the fills, their receipts.
    const filled = await run()
    expect(filled).toMatchObject({ open: 15, ended: 15 })
    expect(filled.destination).toBeLessThanOrEqual(4)
    await transfers.finalise()
    expect(await run()).toMatchObject({ open: 15, ended: 15 })

    expect(await run()).toMatchObject({ open: 0, destination: 0 })
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

  test('looks at no more than 50, those that have waited longest, and ever more seldom', async ({
    transfers,
    run,
    service,
  }) => {
    await transfers.finalise()
    await run(3_600)
    const vault = await openLagoonVault(service, { generation: '0.5' })
    for (const count of [40, 40, 30]) await openKnown(transfers, vault, count)
    const looked: number[] = []
    for (let minute = 0; minute < 3; minute += 1) {
      const { open, ofTransfers } = await run()
      expect(ofTransfers).toBeLessThanOrEqual(51)
      looked.push(open)
    }
    expect(looked.slice(0, 2)).toEqual([50, 50])
    // All have had their turn, and some of them a second one.
    expect(looked[2]).toBeGreaterThanOrEqual(10)
    for (const seconds of [36_000, 0, 0]) await run(seconds)
    expect(await run(600)).toMatchObject({ open: 0 })
    expect((await run(3_600)).open).toBeGreaterThan(0)
  })
})
