import { describe, expect, vi } from 'vitest'
import { evmChain } from '../../../lib/chain/registry.ts'
import { someContext } from '../../support/lambda.ts'
import { type Report, refresh } from '../../support/records.ts'
import { ARBITRUM, BASE, test as base, type Transfer, type Transfers } from '../../support/transfers.ts'
import type { Wire } from '../../support/wire.ts'

const finalityOf = (chainId: number) => evmChain(chainId)?.finalityBlocks ?? 0

const test = base
  /** One run of Arbitrum's job: its report on transfers, and how many requests each chain got. */
  .extend('run', ({ service }) => async () => {
    for (const wire of Object.values(service.rpc)) wire.bodies.length = 0
    const { openTransfers: open, endedTransfers: ended } = await refresh(ARBITRUM)
    const asked = (chainId: number) => service.rpc[chainId]?.bodies.length ?? 0
    return { open, ended, source: asked(ARBITRUM), destination: asked(BASE) }
  })

/** Transfers of one transaction that somebody has asked about. */
async function openKnown(transfers: Transfers, count: number): Promise<readonly Transfer[]> {
  const opened = await transfers.openTogether(
    Array.from({ length: count }, (_, i) => ({ inputAmount: 50_000_000n + BigInt(i) })),
  )
  await Promise.all(opened.map((transfer) => transfer.ask()))
  return opened
}

async function fillTogether(transfers: Transfers, opened: readonly Transfer[]): Promise<void> {
  await transfers.sendTogether(
    BASE,
    opened.flatMap((transfer) => transfers.fillCalls(transfer)),
  )
}

/** Makes everything that happened so far final on both chains, whose clocks keep step. */
async function finalise(transfers: Transfers): Promise<void> {
  await transfers.mine(ARBITRUM, finalityOf(ARBITRUM), 0)
  await transfers.mine(BASE, finalityOf(BASE))
  await transfers.setClock(ARBITRUM, Math.max(await transfers.clockOf(BASE), await transfers.clockOf(ARBITRUM)) + 1)
}

describe('A run of the job', () => {
  test('follows all open transfers to their end in as many requests as one of them takes', async ({
    transfers,
    run,
    service,
  }) => {
    const none = await run()
    expect(none).toMatchObject({ open: 0, ended: 0, destination: 0 })
    const opened = await openKnown(transfers, 15)
    // The receipts with the head, then the time of the block; the pool's answers.
    const waiting = await run()
    expect(waiting).toEqual({ open: 15, ended: 0, source: none.source + 2, destination: 1 })

    await fillTogether(transfers, opened)
    // The pool's answers, the search for the fills, their receipts with the times of their blocks.
    const filled = await run()
    expect(filled).toMatchObject({ open: 15, ended: 15, source: none.source + 2, destination: 3 })
    await finalise(transfers)
    const final = await run()
    expect(final).toMatchObject({ open: 15, ended: 15 })
    expect(final.destination).toBeLessThanOrEqual(3)

    expect(await run()).toMatchObject({ open: 0, destination: 0 })
    for (const wire of Object.values(service.rpc)) wire.bodies.length = 0
    const [first, last] = [opened[0] as Transfer, opened.at(-1) as Transfer]
    for (const { ask } of [first, last]) {
      expect((await ask()).body).toMatchObject({ status: 'completed', terminal: true })
    }
    // Asked about after that, they cost nothing.
    expect(Object.values(service.rpc).flatMap(({ bodies }) => bodies)).toEqual([])
  })

  test('leaves a transfer whose destination cannot be read for the next run, and goes on with its chain', async ({
    transfers,
    run,
    service,
  }) => {
    const [transfer] = (await openKnown(transfers, 1)) as [Transfer]
    await transfers.relayer.fill(transfer.deposit)
    const destination = service.rpc[BASE] as Wire
    destination.behaviour = 'answer 500'
    expect(await run()).toMatchObject({ open: 1, ended: 0 })
    expect(await refresh(ARBITRUM)).toMatchObject({ outcome: 'refreshed' })
    destination.behaviour = 'pass'
    expect(await run()).toMatchObject({ open: 1, ended: 1 })
  })

  test('gives each of many transfers its turn within some runs', async ({ transfers, clock }) => {
    const opened = await openKnown(transfers, 130)
    await fillTogether(transfers, [...opened.slice(0, 5), ...opened.slice(-5)])
    const ended: number[] = []
    for (let minute = 0; minute < 2; minute += 1) {
      clock.pass(60)
      vi.resetModules()
      const { handler } = await import('../../../functions/jobs/refresh-chain/handler.ts')
      const { openTransfers, endedTransfers } = (await handler({ chainId: ARBITRUM }, someContext())) as Report
      expect(openTransfers).toBe(131)
      ended.push(endedTransfers)
    }
    // Those ten, and the one of the test before, which is not final yet.
    expect(ended.reduce((sum, count) => sum + count, 0)).toBe(11)
  })
})
