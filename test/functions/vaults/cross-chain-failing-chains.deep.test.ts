import type { Hash } from 'viem'
import { describe, expect } from 'vitest'
import { expectError } from '../../support/errors.ts'
import { ARBITRUM, BASE } from '../../support/oracles.ts'
import type { Service } from '../../support/service.ts'
import { test as base, disableStatusApi, expectStatus, type Transfer, type Transfers } from '../../support/transfers.ts'
import { listRpcCalls, type RecordingProxy } from '../../support/wire.ts'

const NO_HASH: Hash = `0x${'5c'.repeat(32)}`

const CHAINS = { source: ARBITRUM, destination: BASE } as const
type Role = keyof typeof CHAINS

const test = base
  .extend('wires', ({ service: { rpc } }) => ({
    source: rpc[ARBITRUM] as RecordingProxy,
    destination: rpc[BASE] as RecordingProxy,
  }))
  /** Transfers that are bridging, filled and expired. All tests of this file share them. */
  .extend('stages', { scope: 'file' }, async ({ sharedTransfers: transfers }): Promise<Stages> => {
    const expired = await transfers.open({ seconds: 600 })
    await transfers.letExpire(expired)
    const filled = await transfers.open()
    const fill = await transfers.relayer.fill(filled.deposit)
    return { bridging: await transfers.open(), filled, fill, expired }
  })

type Stages = {
  readonly bridging: Transfer
  readonly filled: Transfer
  readonly fill: Hash
  readonly expired: Transfer
}

/** Brings a new transfer to a stage without a status request. The service then has no stored status of the transfer. */
async function openNew(transfers: Transfers, stage: 'bridging' | 'filled' | 'expired') {
  const transfer = await transfers.open({ seconds: stage === 'expired' ? 600 : 7200 })
  const fill = stage === 'filled' ? await transfers.relayer.fill(transfer.deposit) : undefined
  if (stage === 'expired') {
    await transfers.letExpire(transfer)
    await transfers.finalise()
    // The first two status requests make the service store that the transfer has expired on both chains. The next
    // request searches for the refund.
    for (let question = 0; question < 2; question += 1) await transfer.shows('expired')
  }
  const state = stage === 'filled' ? 'completed' : stage
  return { transfer, shows: (as?: Service) => transfer.becomes(state, { ...(fill && { fill }), ...(as && { as }) }) }
}

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }
type Item = { readonly id: number; readonly result?: unknown; readonly error?: unknown }

function rewriteAnswers(wire: RecordingProxy, method: string, answerOf: (item: Item, call: Call) => Item): void {
  wire.rewrite = (answer, request) => {
    const calls: Call[] = JSON.parse(request)
    const items: Item[] = JSON.parse(answer)
    const changed = items.map((item) => {
      const call = calls.find(({ id }) => id === item.id)
      return call?.method === method ? answerOf(item, call) : item
    })
    return JSON.stringify(changed)
  }
}

const refusal = ({ id }: Item): Item => ({ id, error: { code: -32602, message: 'no' } })

test('While the source chain fails, every status is its error, and correct again afterwards', async ({
  wires,
  stages: { bridging, filled, fill, expired },
  transfers,
}) => {
  const unseen = await transfers.open()
  wires.source.behaviour = 'refuse connections'
  // Only these two requests read the source chain. The source transactions of the other transfers are stored as
  // final.
  for (const reply of await Promise.all([unseen.ask(), transfers.askFor(NO_HASH, { from: ARBITRUM })])) {
    expectError(reply, 'upstream_unavailable')
  }

  wires.source.reset()
  await bridging.shows('bridging')
  await filled.shows('completed', { fill })
  await expired.shows('expired')
  await unseen.shows('bridging')
})

test('While the destination fails, every status is its error, and correct again afterwards', async ({
  wires,
  stages: { bridging, filled, fill, expired },
  transfers,
}) => {
  const unseen = await transfers.open()
  wires.destination.behaviour = 'never answer'
  const replies = await Promise.all([bridging, filled, expired, unseen].map((transfer) => transfer.ask()))
  for (const reply of replies) expectError(reply, 'upstream_timeout')
  // The source chain alone decides the status of a missing transaction, so the failing destination chain does not
  // matter.
  expectStatus(await transfers.askFor(NO_HASH, { from: ARBITRUM }), 'pending', { hash: NO_HASH, from: ARBITRUM })

  wires.destination.reset()
  await bridging.shows('bridging')
  await filled.shows('completed', { fill })
  await expired.shows('expired')
  await unseen.shows('bridging')
})

test('While both chains respond after 2 s, a status is still correct', async ({ wires, stages }) => {
  for (const wire of [wires.source, wires.destination]) wire.behaviour = 'answer after 2 s'
  await stages.bridging.shows('bridging')
})

describe('A status that cannot be read completely is an error:', () => {
  const NEEDED: readonly (readonly [Role, string, 'bridging' | 'filled' | 'expired'])[] = [
    ['source', 'eth_getTransactionReceipt', 'bridging'],
    ['source', 'eth_getBlockByNumber', 'expired'],
    ['source', 'eth_getLogs', 'expired'],
    ['destination', 'eth_call', 'bridging'],
    ['destination', 'eth_getLogs', 'filled'],
    ['destination', 'eth_getTransactionReceipt', 'filled'],
  ]
  const NONSENSE = ({ id }: Item): Item => ({ id, result: { number: 'x' } })
  // The cases alternate between two failures. The tests in test/lib/chain cover other failures.
  const cases = NEEDED.map(([role, method, stage], index) => ({
    ...{ role, method, stage },
    ...(index % 2 ? { spoiled: 'an error', answerOf: refusal } : { spoiled: 'nonsense', answerOf: NONSENSE }),
  }))

  test.for(cases)(
    'the $role responds to $method with $spoiled, for a transfer that is $stage',
    async ({ role, method, stage, answerOf }, { wires, transfers, coldService }) => {
      disableStatusApi(transfers.service)
      const { transfer, shows } = await openNew(transfers, stage)
      rewriteAnswers(wires[role], method, answerOf)
      // The request goes to a new container, because an older container remembers that the node refuses this method.
      expectError(await transfer.ask({ as: coldService }), 'upstream_bad_answer')
      wires[role].reset()
      await shows()
    },
  )
})

describe('If the destination searches at most this many blocks at a time:', () => {
  type Range = { readonly fromBlock: string; readonly toBlock: string }
  const lengthOf = ({ params }: Pick<Call, 'params'>) => {
    const [{ fromBlock, toBlock }] = params as [Range]
    return Number(toBlock) - Number(fromBlock) + 1
  }
  const limit = (wire: RecordingProxy, blocks: number) =>
    rewriteAnswers(wire, 'eth_getLogs', (item, call) =>
      lengthOf(call) > blocks
        ? { id: item.id, error: { code: -32600, message: `limited to ${blocks} blocks range` } }
        : item,
    )

  test('0, a fill cannot be found, which is an error once the range cannot shrink further', async ({
    wires,
    transfers,
    coldService,
  }) => {
    disableStatusApi(transfers.service)
    const { transfer } = await openNew(transfers, 'filled')
    limit(wires.destination, 0)
    const ask = () => transfer.ask({ as: coldService })
    let reply = await ask()
    for (let question = 0; question < 10 && reply.status === 200; question += 1) reply = await ask()
    for (const response of [reply, await ask()]) expectError(response, 'upstream_bad_answer')
  })

  test.for([
    [100, 4],
    [10, 24],
  ] as const)(
    '%i, a fill among 400 is found within %i polls of at most 8 calls',
    async ([blocks, most], { wires, transfers, coldService }) => {
      disableStatusApi(transfers.service)
      const transfer = await transfers.open()
      await transfers.mine(BASE, 20)
      const fill = await transfers.relayer.fill(transfer.deposit)
      await transfers.mine(BASE, 400)
      limit(wires.destination, blocks)
      let questions = 0
      for (let isCompleted = false; !isCompleted && questions < most; questions += 1) {
        for (const wire of Object.values(wires)) wire.bodies.length = 0
        isCompleted = (await transfer.ask({ as: coldService })).body.status === 'completed'
        const batches = Object.values(wires).flatMap(listRpcCalls)
        expect(batches.length).toBeLessThanOrEqual(6)
        expect(batches.flat().length).toBeLessThanOrEqual(8)
      }
      await transfer.shows('completed', { fill })
    },
  )
})
