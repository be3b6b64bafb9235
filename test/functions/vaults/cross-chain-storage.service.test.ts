import type { Hash } from 'viem'
import { describe, expect } from 'vitest'
import type { Item } from '../../../lib/aws/requests.ts'
import { sendTransactions } from '../../../sandbox/transactions.ts'
import { captureLogs } from '../../support/logs.ts'
import { ARBITRUM, BASE } from '../../support/oracles.ts'
import { startNewContainers, USERS } from '../../support/service.ts'
import { scanTable } from '../../support/tables.ts'
import {
  test as base,
  call,
  disableStatusApi,
  expectStatus,
  type Transfer,
  type Transfers,
} from '../../support/transfers.ts'
import { openLagoonVault, openYieldVault, ROLES } from '../../support/vaults.ts'
import { listRpcCalls, type RecordingProxy, startRecordingProxy } from '../../support/wire.ts'

const [ALICE, BOB, CAROL] = USERS
const NO_HASH: Hash = `0x${'5c'.repeat(32)}`

type Cost = { readonly source: number; readonly destination: number; readonly writes: number }

const test = base
  .extend('recordsOf', ({ service: { tables } }) => {
    return async (hash: Hash): Promise<Item[]> => {
      const items = [...(await scanTable(tables.deposits)).values()]
      // The first event of a record is the deposit on the source chain.
      type Recorded = Item & { readonly transfer: { readonly events: readonly [{ readonly txHash: Hash }] } }
      const transfers = items.filter(({ pk }) => pk.startsWith('TRANSFER#')) as Recorded[]
      return transfers.filter(({ transfer }) => transfer.events[0].txHash === hash)
    }
  })
  .extend('costOf', ({ service }) => async (work: () => Promise<unknown>, from = ARBITRUM): Promise<Cost> => {
    for (const { bodies } of Object.values(service.rpc)) bodies.length = 0
    service.table.tries.length = 0
    await work()
    const countRequests = (chainId: number) => service.rpc[chainId]?.bodies.length ?? 0
    const writes = service.table.tries.filter(({ action }) => action === 'PutItem').length
    return { source: countRequests(from), destination: countRequests(from === BASE ? ARBITRUM : BASE), writes }
  })
  .extend('twoHosts', async ({ service }, { onCleanup }) => {
    const { chains, rpcUrls, setRpcUrls } = service.backends
    const pairs = await Promise.all(
      [ARBITRUM, BASE].map(async (id) => {
        const target = chains.find(({ chainId }) => chainId === id)?.rpcUrl ?? ''
        return [id, [service.rpc[id] as RecordingProxy, await startRecordingProxy(target)]] as const
      }),
    )
    setRpcUrls(
      Object.fromEntries(pairs.map(([id, [one, other]]): [number, [string, string]] => [id, [one.url, other.url]])),
    )
    const cold = await startNewContainers(service)
    onCleanup(async () => {
      setRpcUrls(rpcUrls)
      await cold.stop()
      for (const [, [, other]] of pairs) await other.stop()
    })
    return { as: cold.service, wires: pairs.flatMap(([, wires]) => wires) }
  })

const NOTHING: Cost = { source: 0, destination: 0, writes: 0 }

const refuse = (transfers: Transfers, ...chainIds: number[]) => {
  for (const id of chainIds) (transfers.service.rpc[id] as RecordingProxy).behaviour = 'refuse connections'
}

function rewriteResults(wire: RecordingProxy, method: string, change: (result: unknown) => unknown): void {
  wire.rewrite = (answer, request) => {
    const calls: { id: number; method: string }[] = JSON.parse(request)
    const items: { id: number; result: unknown }[] = JSON.parse(answer)
    const isMeant = (id: number) => calls.find((one) => one.id === id)?.method === method
    return JSON.stringify(items.map((item) => (isMeant(item.id) ? { ...item, result: change(item.result) } : item)))
  }
}

function limitRanges(wire: RecordingProxy, blocks: number): void {
  wire.rewrite = (answer, request) => {
    const calls: { id: number; method: string; params: [{ fromBlock: string; toBlock: string }] }[] =
      JSON.parse(request)
    const items: { id: number }[] = JSON.parse(answer)
    const isTooLong = (id: number) => {
      const { method, params } = calls.find((one) => one.id === id) ?? {}
      return method === 'eth_getLogs' && params && Number(params[0].toBlock) - Number(params[0].fromBlock) >= blocks
    }
    const error = { code: -32614, message: `eth_getLogs is limited to a ${blocks} range` }
    return JSON.stringify(items.map((item) => (isTooLong(item.id) ? { id: item.id, error } : item)))
  }
}

describe('The first status request', () => {
  test('for an unknown hash records nothing', async ({ transfers, recordsOf, costOf }) => {
    const cost = await costOf(() => transfers.askFor(NO_HASH, { from: ARBITRUM }))
    // The source chain's node gets two requests. The second one asks for an ERC-4337 user operation with this hash.
    expect(cost).toEqual({ source: 2, destination: 0, writes: 0 })
    expect(await recordsOf(NO_HASH)).toEqual([])
  })

  test('for a transfer records it, and the second records nothing more', async ({ transfers, recordsOf, costOf }) => {
    const transfer = await transfers.open()
    expect(await recordsOf(transfer.hash)).toEqual([])
    // Two items are written: the transfer, and an index item from the transaction's hash to the transfer.
    expect(await costOf(() => transfer.shows('bridging'))).toMatchObject({ writes: 2 })
    const [record, ...more] = await recordsOf(transfer.hash)
    expect(more).toEqual([])
    expect(record).toMatchObject({ pk: `TRANSFER#${ARBITRUM}#${ALICE.address}`, sk: expect.stringMatching(/^0x/) })

    expect(await costOf(() => transfer.shows('bridging'))).toMatchObject({ writes: 0 })
    expect(await recordsOf(transfer.hash)).toEqual([record])
  })

  test('for a transfer reads a record of a moment ago, whichever replica responds', async ({ service, transfers }) => {
    const transfer = await transfers.open()
    await transfer.shows('bridging')
    service.table.reset()
    await transfer.shows('bridging')
    const reads = service.table.tries.filter(({ body }) => /SENT#|TRANSFER#/.test(body))
    expect(reads.map(({ action, body }) => [action, JSON.parse(body).isConsistent])).toEqual([
      ['GetItem', true],
      ['BatchGetItem', true],
    ])
  })

  test('for one of several deposits in a transaction records them all', async ({ transfers, recordsOf }) => {
    const [first, second] = (await transfers.openTogether([{}, { asset: 'DAI' }])) as [Transfer, Transfer]
    await second.shows('bridging')
    expect(await recordsOf(first.hash)).toHaveLength(2)
    await first.shows('bridging')
    await transfers.askFor(first.hash, { from: ARBITRUM, index: 2 })
    expect(await recordsOf(first.hash)).toHaveLength(2)
  })

  test('for a transfer that has arrived already records it', async ({ transfers, recordsOf }) => {
    const transfer = await transfers.open()
    const fill = await transfers.relayer.fill(transfer.deposit)
    await transfer.shows('completed', { fill })
    expect(await recordsOf(transfer.hash)).toHaveLength(1)
  })

  test("for an old transfer finds its fill by the bridge's hint, without a search", async ({ service, transfers }) => {
    const transfer = await transfers.open()
    const fill = await transfers.relayer.fill(transfer.deposit)
    for (const days of [1, 20, 40]) {
      await transfers.setClock(BASE, (await transfers.clockOf(BASE)) + days * 86_400)
      await transfers.mine(BASE, 30)
    }
    const wire = service.rpc[BASE] as RecordingProxy
    wire.bodies.length = 0
    await transfer.shows('completed', { fill })
    const searches = listRpcCalls(wire)
      .flat()
      .filter(({ method }) => method === 'eth_getLogs')
    expect(searches).toHaveLength(0)
  })

  test('for a transaction without a deposit records nothing, even if that is final', async ({
    transfers,
    recordsOf,
    costOf,
  }) => {
    const token = transfers.tokenOf(BASE, 'USDC')
    const hash = await transfers.send(BASE, ALICE.address, call(token, 'transfer', [CAROL.address, 5n]))
    const { target: to, callData: data } = await transfers.depositCall({ from: BASE, to: ARBITRUM, user: CAROL })
    const reverting = [{ label: 'deposit', from: CAROL.address, to, data }]
    const [reverted = NO_HASH] = await sendTransactions(transfers.chainOf(BASE), reverting)
    const ask = async (final: boolean) => {
      const none = await transfers.askFor(hash, { from: BASE, index: 49 })
      expectStatus(none, 'no_deposit_in_transaction', { hash, from: BASE, final })
      const failed = await transfers.askFor(reverted, { from: BASE })
      expectStatus(failed, 'source_reverted', { hash: reverted, from: BASE, final })
    }
    const cost = { source: 4, destination: 0, writes: 0 }
    expect(await costOf(() => ask(false), BASE)).toEqual(cost)
    await transfers.finalise()
    expect(await costOf(() => ask(true), BASE)).toEqual(cost)
    expect([...(await recordsOf(hash)), ...(await recordsOf(reverted))]).toEqual([])
  })
})

describe('A final status', () => {
  test('is read again until its block is final, and then never', async ({ service, transfers, costOf }) => {
    const good = await openLagoonVault(service, { generation: '0.5' })
    const paused = await openYieldVault(service)
    await paused.act(ROLES.admin, 'pause')
    const delivered = await transfers.open({ into: good })
    const failed = await transfers.open({ into: paused, entry: 'deposit' })
    const deliveredBy = await transfers.relayer.fill(delivered.deposit)
    await transfers.mine(BASE, 3)
    const failedBy = await transfers.relayer.fill(failed.deposit)
    const shown = [
      () => delivered.shows('completed', { fill: deliveredBy, protocol: 'lagoon', key: good.key }),
      () => failed.shows('destination_action_failed', { fill: failedBy, protocol: 'erc4626', key: paused.key }),
    ] as const

    for (const show of shown) {
      await show()
      const again = await costOf(show)
      expect(again.destination).toBeGreaterThan(0)
      expect(again.writes).toBe(0)
    }
    await transfers.finalise()
    const [ofDelivered, ofFailed] = [await costOf(shown[0]), await costOf(shown[1])]
    // One write stores the final status of the transfer. A second one marks the record of the deposit's transaction
    // hash as final. A completed deposit needs a third write, which stores its source transaction for the user's
    // history.
    expect([ofDelivered.writes, ofFailed.writes]).toEqual([3, 2])
    refuse(transfers, BASE, ARBITRUM)
    for (const show of shown) expect(await costOf(show)).toEqual(NOTHING)
    // Other clients get the same status. A client without the vault does not get the vault's protocol.
    await delivered.shows('completed', { fill: deliveredBy, key: paused.key })
    await failed.shows('destination_action_failed', { fill: failedBy, key: good.key })
  })

  test('of a refunded transfer is stored, and of an expired one is not', async ({ transfers, costOf }) => {
    await transfers.passDays(2)
    const transfer = await transfers.open({ from: BASE, to: ARBITRUM, seconds: 600 })
    await transfers.letExpire(transfer)
    await transfer.shows('expired')
    expect(await costOf(() => transfer.shows('expired'), BASE)).toMatchObject({ writes: 0 })

    await transfers.relayer.refund(transfer.deposit)
    await transfers.finalise()
    await transfer.becomes('refunded', { final: true })
    refuse(transfers, BASE, ARBITRUM)
    expect(await costOf(() => transfer.shows('refunded'), BASE)).toEqual(NOTHING)
  })

  test('is never overwritten by an earlier request', async ({ service, transfers, recordsOf, costOf }) => {
    const transfer = await transfers.open({ recipient: BOB.address })
    const destination = service.rpc[BASE] as RecordingProxy
    const askChains = Promise.withResolvers<void>()
    const write = Promise.withResolvers<void>()

    // The first request waits after it has read the unfilled transfer, and before it stores the transfer.
    destination.hold = askChains.promise
    service.table.tries.length = 0
    const first = transfer.ask()
    await expect.poll(() => destination.bodies.length, { interval: 1 }).toBeGreaterThan(0)
    service.table.hold = () => write.promise
    askChains.resolve()
    await expect.poll(() => service.table.tries.some(({ action }) => action === 'PutItem'), { interval: 1 }).toBe(true)
    service.table.hold = undefined

    const fill = await transfers.relayer.fill(transfer.deposit)
    await transfers.finalise()
    await transfer.becomes('completed', { fill, final: true })
    const records = await recordsOf(transfer.hash)
    expect(records).toHaveLength(1)

    write.resolve()
    expect((await first).body).toMatchObject({ status: 'bridging' })
    expect(await recordsOf(transfer.hash)).toEqual(records)
    expect(await costOf(() => transfer.shows('completed', { fill }))).toEqual(NOTHING)
  })
})

describe('Parallel status requests', () => {
  test('leave one record, and all get the same response', async ({ transfers, recordsOf }) => {
    const transfer = await transfers.open()
    const askAll = () => Promise.all(Array.from({ length: 8 }, () => transfer.ask()))
    const bodiesOf = async () => new Set((await askAll()).map(({ body }) => JSON.stringify(body)))
    expect((await bodiesOf()).size).toBe(1)
    expect(await recordsOf(transfer.hash)).toHaveLength(1)

    const fill = await transfers.relayer.fill(transfer.deposit)
    expect((await bodiesOf()).size).toBe(1)
    expect(await recordsOf(transfer.hash)).toHaveLength(1)
    await transfer.shows('completed', { fill })
  })
})

describe('If a chain is reorganised before a block is final', () => {
  test('a removed fill makes the transfer bridging again, and the next fill is found', async ({
    service,
    transfers,
  }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const shown = { protocol: 'lagoon', key: vault.key } as const
    const transfer = await transfers.open({ into: vault })
    await transfer.shows('bridging', shown)
    const forget = await transfers.remember(BASE)
    const lost = await transfers.relayer.fill(transfer.deposit)
    await transfer.shows('completed', { fill: lost, ...shown })

    await forget()
    await transfers.mine(BASE, 2)
    await transfer.shows('bridging', shown)
    const fill = await transfers.sendTogether(BASE, transfers.fillCalls(transfer))
    expect(fill).not.toBe(lost)
    await transfer.shows('completed', { fill, ...shown })
    await transfers.finalise()
    await transfer.becomes('completed', { fill, ...shown, final: true })
    refuse(transfers, BASE, ARBITRUM)
    await transfer.shows('completed', { fill, ...shown })
  })

  test('a replaced fill has the outcome of its replacement', async ({ service, transfers }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const shown = { protocol: 'lagoon', key: vault.key } as const
    const transfer = await transfers.open({ into: vault })
    const forget = await transfers.remember(BASE)
    const lost = await transfers.relayer.fill(transfer.deposit)
    await transfer.shows('completed', { fill: lost, ...shown })

    await forget()
    await vault.act(ROLES.admin, 'pause')
    const fill = await transfers.sendTogether(BASE, transfers.fillCalls(transfer))
    await transfer.shows('destination_action_failed', { fill, ...shown })
    await transfer.shows('destination_action_failed', { fill, ...shown })
  })

  test('the same fill in a later block has the time of that block', async ({ transfers }) => {
    const transfer = await transfers.open()
    const forget = await transfers.remember(BASE)
    const signed = await transfers.sign(BASE, ALICE, transfers.togetherCall(transfers.fillCalls(transfer)))
    const fill = await transfers.sendSigned(BASE, signed)
    await transfer.shows('completed', { fill })
    const before = await transfers.timeOf(BASE, fill)
    await forget()
    await transfers.mine(BASE, 5, 7)
    expect(await transfers.sendSigned(BASE, signed)).toBe(fill)
    expect(await transfers.timeOf(BASE, fill)).not.toBe(before)
    await transfer.shows('completed', { fill })
  })

  test('a deposit with a new id is followed by that id', async ({ transfers }) => {
    const signed = await transfers.sign(ARBITRUM, ALICE, await transfers.depositCall())
    const forget = await transfers.remember(ARBITRUM)
    const hash = await transfers.sendSigned(ARBITRUM, signed)
    const [first] = (await transfers.transfersIn(ARBITRUM, hash)) as [Transfer]
    await first.shows('bridging')

    // On the new branch of the chain, Bob's deposit comes first and gets the deposit id that Alice's had.
    await forget()
    await transfers.open({ user: BOB })
    expect(await transfers.sendSigned(ARBITRUM, signed)).toBe(hash)
    const [second] = (await transfers.transfersIn(ARBITRUM, hash)) as [Transfer]
    expect(second.deposit.depositId).not.toBe(first.deposit.depositId)
    await second.shows('bridging')
    const fill = await transfers.relayer.fill(second.deposit)
    await second.shows('completed', { fill })
  })

  test('a deposit that is mined again later with a new id is followed by that id', async ({ service, transfers }) => {
    const signed = await transfers.sign(ARBITRUM, ALICE, await transfers.depositCall())
    const forget = await transfers.remember(ARBITRUM)
    const hash = await transfers.sendSigned(ARBITRUM, signed)
    const [first] = (await transfers.transfersIn(ARBITRUM, hash)) as [Transfer]
    await first.shows('bridging')
    await forget()
    // The status still shows the deposit that the service read before the reorganisation.
    expect((await first.ask()).body).toMatchObject({ status: 'bridging' })

    await transfers.open({ user: BOB })
    await transfers.sendSigned(ARBITRUM, signed)
    const [second] = (await transfers.transfersIn(ARBITRUM, hash)) as [Transfer]
    await second.shows('bridging')
    const fill = await transfers.relayer.fill(second.deposit)
    rewriteResults(service.rpc[ARBITRUM] as RecordingProxy, 'eth_getTransactionReceipt', () => null)
    await second.shows('completed', { fill })
  })
})

describe('A node that lags behind', () => {
  test('does not make a bridging transfer pending again', async ({ service, transfers }) => {
    const transfer = await transfers.open()
    await transfer.shows('bridging')
    rewriteResults(service.rpc[ARBITRUM] as RecordingProxy, 'eth_getTransactionReceipt', () => null)
    await transfer.shows('bridging')
    const fill = await transfers.relayer.fill(transfer.deposit)
    await transfer.shows('completed', { fill })
    await transfer.shows('completed', { fill })
  })

  test('does not make an expired transfer pending again', async ({ service, transfers }) => {
    const transfer = await transfers.open({ seconds: 600 })
    await transfer.shows('bridging')
    rewriteResults(service.rpc[ARBITRUM] as RecordingProxy, 'eth_getTransactionReceipt', () => null)
    await transfers.letExpire(transfer)
    await transfer.shows('expired')
  })

  test('does not complete a fill before its logs and its receipt show it', async ({ service, transfers }) => {
    const destination = service.rpc[BASE] as RecordingProxy
    const transfer = await transfers.open()
    const fill = await transfers.relayer.fill(transfer.deposit)
    disableStatusApi(service)
    rewriteResults(destination, 'eth_getLogs', () => [])
    await transfer.shows('bridging')
    rewriteResults(destination, 'eth_getTransactionReceipt', () => null)
    await transfer.shows('bridging')
    destination.rewrite = undefined
    await transfer.shows('completed', { fill })
    // Searches for events now find nothing. The service must find the fill by its stored transaction hash.
    rewriteResults(destination, 'eth_getLogs', () => [])
    await transfer.shows('completed', { fill })
  })
})

describe('A known source transaction that can no longer be mined', () => {
  test('has failed once another one has finally used its nonce, and not because a node lags', async ({ transfers }) => {
    const signed = await transfers.sign(ARBITRUM, BOB, await transfers.depositCall({ user: BOB }))
    const forget = await transfers.remember(ARBITRUM)
    const hash = await transfers.sendSigned(ARBITRUM, signed)
    const [lost] = (await transfers.transfersIn(ARBITRUM, hash)) as [Transfer]
    await lost.shows('bridging')
    await forget()
    const initiated = (await lost.ask()).body.timestamps.initiated
    // Another transaction of the same sender uses the lost transaction's nonce.
    await transfers.open({ user: BOB, inputAmount: 51_000_000n })
    for (let question = 0; question < 2; question += 1) expect((await lost.ask()).body.status).toBe('bridging')
    expect(initiated).not.toBeNull()
    await transfers.finalise()
    expectStatus(await lost.ask(), 'source_dropped', { hash, from: ARBITRUM, final: true })
    refuse(transfers, BASE, ARBITRUM)
    expectStatus(await lost.ask(), 'source_dropped', { hash, from: ARBITRUM, final: true })
  })

  test('has failed with two hosts too, at 8 calls to each per status request', async ({
    transfers,
    twoHosts: { as, wires },
  }) => {
    const signed = await transfers.sign(ARBITRUM, BOB, await transfers.depositCall({ user: BOB }))
    const forget = await transfers.remember(ARBITRUM)
    const hash = await transfers.sendSigned(ARBITRUM, signed)
    const [lost] = (await transfers.transfersIn(ARBITRUM, hash)) as [Transfer]
    await lost.shows('bridging', { as })
    await forget()
    await transfers.open({ user: BOB, inputAmount: 51_000_000n })
    expect((await lost.ask({ as })).body.status).toBe('bridging')
    await transfers.finalise()
    for (const wire of wires) wire.bodies.length = 0
    expectStatus(await lost.ask({ as }), 'source_dropped', { hash, from: ARBITRUM, final: true })
    for (const side of [0, 1]) {
      const batches = wires.filter((_, index) => index % 2 === side).flatMap(listRpcCalls)
      expect(batches.flat().length).toBeLessThanOrEqual(8)
    }
  })

  test('has not failed while a node knows it', async ({ service, transfers }) => {
    const transfer = await transfers.open({ user: BOB })
    await transfer.shows('bridging')
    await transfers.open({ user: BOB })
    rewriteResults(service.rpc[ARBITRUM] as RecordingProxy, 'eth_getTransactionReceipt', () => null)
    await transfers.finalise(ARBITRUM)
    await transfer.shows('bridging')
    await transfer.shows('bridging')
  })
})

describe('A status request costs at most 8 calls in 6 requests:', () => {
  const costs = async (service: Transfers['service'], work: () => Promise<unknown>) => {
    for (const wire of Object.values(service.rpc)) wire.bodies.length = 0
    await work()
    const batches = Object.values(service.rpc).flatMap(listRpcCalls)
    return { requests: batches.length, calls: batches.flat().length }
  }

  test('for an unfinished transfer 5 calls, and fewer once its source is final', async ({ service, transfers }) => {
    const transfer = await transfers.open({ from: BASE, to: ARBITRUM, user: BOB, seconds: 3_000 })
    const bridging = () => transfer.shows('bridging')
    expect(await costs(service, bridging)).toEqual({ requests: 2, calls: 5 })
    expect(await costs(service, bridging)).toEqual({ requests: 2, calls: 5 })
    await transfers.finalise()
    expect(await costs(service, bridging)).toEqual({ requests: 2, calls: 5 })
    expect(await costs(service, bridging)).toEqual({ requests: 1, calls: 2 })
  })

  test('for a new fill, and for one that is not final yet', async ({ service, transfers }) => {
    const transfer = await transfers.open()
    const fill = await transfers.relayer.fill(transfer.deposit)
    const completed = () => transfer.shows('completed', { fill })
    expect(await costs(service, completed)).toEqual({ requests: 3, calls: 6 })
    expect(await costs(service, completed)).toEqual({ requests: 2, calls: 4 })
  })

  test('for old transfers and small block ranges of a node, and several requests find the result', async ({
    service,
    coldService,
    transfers,
  }) => {
    await transfers.passDays(2)
    const filled = await transfers.open()
    const expired = await transfers.open({ seconds: 600 })
    const fill = await transfers.relayer.fill(filled.deposit)
    await transfers.letExpire(expired)
    await transfers.relayer.refund(expired.deposit)
    await transfers.passDays(1)
    for (const chainId of [ARBITRUM, BASE]) await transfers.mine(chainId, 250, 0)
    await transfers.passDays(7)
    await transfers.finalise()
    for (const chainId of [ARBITRUM, BASE]) limitRanges(service.rpc[chainId] as RecordingProxy, 140)
    const stages = [
      [filled, 'completed', { fill }],
      [expired, 'refunded', {}],
    ] as const
    for (const [transfer, state, shown] of stages) {
      let reportedState = ''
      let questions = 0
      for (; questions < 8 && reportedState !== state; questions += 1) {
        const { requests, calls } = await costs(service, async () => {
          const { status, body } = await transfer.ask({ as: coldService })
          // The node allows few blocks per event query, so the search takes several requests. Each must succeed.
          expect(status).toBe(200)
          reportedState = body.reason ?? body.status
        })
        expect(requests).toBeLessThanOrEqual(6)
        expect(calls).toBeLessThanOrEqual(8)
      }
      await transfer.shows(state, { ...shown, as: coldService })
    }
  })
})

describe('One of two hosts', () => {
  const isReverted = (receipt: unknown) => receipt && { ...receipt, status: '0x0', logs: [] }

  test('gets no lie recorded, also while the other one is down', async ({
    transfers,
    recordsOf,
    twoHosts: { as, wires },
  }) => {
    for (const liar of [0, 1]) {
      const transfer = await transfers.open()
      await transfers.finalise()
      const [lying, honest] = liar === 0 ? [wires[0], wires[1]] : [wires[1], wires[0]]
      rewriteResults(lying as RecordingProxy, 'eth_getTransactionReceipt', isReverted)
      for (const behaviour of ['refuse connections', 'answer 500', 'pass'] as const) {
        Object.assign(honest as RecordingProxy, { behaviour })
        for (let question = 0; question < 3; question += 1) {
          const { body } = await transfer.ask({ as })
          expect(body.final).toBe(false)
          for (const { nodes } of body.evidence) expect(nodes).toBe(1)
        }
        expect(await recordsOf(transfer.hash)).toEqual([])
      }
      for (const wire of wires) wire.reset()
      const fill = await transfers.relayer.fill(transfer.deposit)
      await transfers.finalise()
      await transfer.becomes('completed', { fill, as, final: true })
      expect((await transfer.ask({ as })).body.evidence).toMatchObject([
        { chainId: ARBITRUM, nodes: 2 },
        { chainId: BASE, nodes: 2 },
      ])
    }
  })

  test('that is behind reports a transfer a little later, without a contradiction', async ({
    transfers,
    twoHosts: { as, wires },
  }) => {
    const logs = captureLogs()
    const transfer = await transfers.open()
    rewriteResults(wires[1] as RecordingProxy, 'eth_getTransactionReceipt', () => null)
    expect((await transfer.ask({ as })).body.status).toBe('pending')
    for (const wire of wires) wire.reset()
    await transfer.shows('bridging', { as })
    expect(logs.lines.filter(({ message }) => message === 'nodes disagree')).toEqual([])
  })
})
