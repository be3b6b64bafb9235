import type { Hash } from 'viem'
import { describe, expect } from 'vitest'
import { expectError } from '../../support/errors.ts'
import { ARBITRUM, BASE, test as base, expectStatus, type Transfer, type Transfers } from '../../support/transfers.ts'
import { CHAIN_FAILURES, callsIn, type Wire } from '../../support/wire.ts'

const NO_HASH: Hash = `0x${'5c'.repeat(32)}`

const CHAINS = { source: ARBITRUM, destination: BASE } as const
type Role = keyof typeof CHAINS

const test = base
  .extend('wires', ({ service: { rpc } }) => ({ source: rpc[ARBITRUM] as Wire, destination: rpc[BASE] as Wire }))
  /** Transfers of every kind, each of which is asked about on both chains. */
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

/** A transfer as it is at each stage, new to the service, so that everything has to be asked. */
async function openNew(transfers: Transfers, stage: 'bridging' | 'filled' | 'expired') {
  const transfer = await transfers.open({ seconds: stage === 'expired' ? 600 : 7200 })
  const fill = stage === 'filled' ? await transfers.relayer.fill(transfer.deposit) : undefined
  if (stage === 'expired') await transfers.letExpire(transfer)
  const state = stage === 'filled' ? 'completed' : stage
  return { transfer, shows: () => transfer.shows(state, { ...(fill && { fill }) }) }
}

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }
type Item = { readonly id: number; readonly result?: unknown; readonly error?: unknown }

/** Changes the answers to one method on a wire, each in sight of its call. */
function change(wire: Wire, method: string, answerOf: (item: Item, call: Call) => Item): void {
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

describe('While the source chain is to', () => {
  test.for(CHAIN_FAILURES)(
    '%s, every status is %s, and right again after',
    async ([behaviour, code], { wires, stages, transfers }) => {
      const { bridging, filled, fill, expired } = stages
      const unseen = await transfers.open()
      wires.source.behaviour = behaviour
      const asked = [bridging, filled, expired, unseen].map((transfer) => transfer.ask())
      const replies = await Promise.all([...asked, transfers.askFor(NO_HASH, { from: ARBITRUM })])
      for (const reply of replies) expectError(reply, code)

      wires.source.reset()
      await bridging.shows('bridging')
      await filled.shows('completed', { fill })
      await expired.shows('expired')
      await unseen.shows('bridging')
    },
  )
})

describe('While the destination is to', () => {
  test.for(CHAIN_FAILURES)(
    '%s, every status is %s, and right again after',
    async ([behaviour, code], { wires, stages, transfers }) => {
      const { bridging, filled, fill, expired } = stages
      const unseen = await transfers.open()
      wires.destination.behaviour = behaviour
      const replies = await Promise.all([bridging, filled, expired, unseen].map((transfer) => transfer.ask()))
      for (const reply of replies) expectError(reply, code)
      // What the source chain alone tells needs no other.
      expectStatus(await transfers.askFor(NO_HASH, { from: ARBITRUM }), 'pending', { hash: NO_HASH, from: ARBITRUM })

      wires.destination.reset()
      await bridging.shows('bridging')
      await filled.shows('completed', { fill })
      await expired.shows('expired')
      await unseen.shows('bridging')
    },
  )
})

test('While both chains answer after 2 s, a status is as good as ever', async ({ wires, stages }) => {
  for (const wire of [wires.source, wires.destination]) wire.behaviour = 'answer after 2 s'
  await stages.bridging.shows('bridging')
})

describe('A status that cannot be had whole is an error:', () => {
  const NEEDED: readonly (readonly [Role, string, 'bridging' | 'filled' | 'expired'])[] = [
    ['source', 'eth_getTransactionReceipt', 'bridging'],
    ['source', 'eth_getBlockByNumber', 'bridging'],
    ['source', 'eth_getLogs', 'expired'],
    ['destination', 'eth_call', 'bridging'],
    ['destination', 'eth_getLogs', 'filled'],
    ['destination', 'eth_getTransactionReceipt', 'filled'],
    ['destination', 'eth_getBlockByNumber', 'filled'],
  ]
  const SPOILS: readonly (readonly [string, (item: Item) => Item])[] = [
    ['an error', refusal],
    ['no result', ({ id }) => ({ id })],
    ['an object that is none', ({ id }) => ({ id, result: { number: 'x' } })],
  ]
  const cases = NEEDED.flatMap(([role, method, stage]) =>
    SPOILS.map(([spoiled, answerOf]) => ({ role, method, stage, spoiled, answerOf })),
  )

  test.for(cases)(
    'the $role answers $method with $spoiled, for a transfer that is $stage',
    async ({ role, method, stage, answerOf }, { wires, transfers }) => {
      const { transfer, shows } = await openNew(transfers, stage)
      change(wires[role], method, answerOf)
      expectError(await transfer.ask(), 'upstream_bad_answer')
      wires[role].reset()
      await shows()
    },
  )

  test('a refund of which the source chain does not show the receipt is not seen yet', async ({ wires, transfers }) => {
    const { transfer } = await openNew(transfers, 'expired')
    await transfer.shows('expired')
    await transfers.relayer.refund(transfer.deposit)
    change(wires.source, 'eth_getTransactionReceipt', ({ id, result }, { params }) => ({
      id,
      result: params[0] === transfer.hash ? result : null,
    }))
    await transfer.shows('expired')
    wires.source.reset()
    await transfer.shows('refunded')
  })
})

describe('Where the destination refuses to search more blocks at once than', () => {
  type Range = { readonly fromBlock: string; readonly toBlock: string }
  const lengthOf = ({ params }: Pick<Call, 'params'>) => {
    const [{ fromBlock, toBlock }] = params as [Range]
    return Number(toBlock) - Number(fromBlock) + 1
  }
  const limit = (wire: Wire, blocks: number) =>
    change(wire, 'eth_getLogs', (item, call) => (lengthOf(call) > blocks ? refusal(item) : item))

  test('0, a fill cannot be found, which is an error and no status', async ({ wires, transfers }) => {
    const { transfer, shows } = await openNew(transfers, 'filled')
    limit(wires.destination, 0)
    expectError(await transfer.ask(), 'upstream_bad_answer')
    wires.destination.reset()
    await shows()
  })

  test.for([1, 2])('%i, a fill is found all the same', async (blocks, { wires, transfers }) => {
    const { shows } = await openNew(transfers, 'filled')
    limit(wires.destination, blocks)
    await shows()
  })

  test('1000, a fill is found among more', async ({ wires, transfers }) => {
    const { shows } = await openNew(transfers, 'filled')
    await transfers.mine(BASE, 1_100, 2)
    limit(wires.destination, 1_000)
    await shows()
    const searches = callsIn(wires.destination).map((calls) => calls.filter(({ method }) => method === 'eth_getLogs'))
    const lengths = searches.filter((calls) => calls.length > 0).map((calls) => calls.map(lengthOf))
    const [whole, pieces] = lengths as [number[], number[]]
    expect(lengths).toHaveLength(2)
    expect(whole).toEqual([expect.any(Number)])
    expect(whole[0]).toBeGreaterThan(1_000)
    expect(Math.max(...pieces)).toBe(1_000)
    expect(pieces.reduce((sum, length) => sum + length, 0)).toBe(whole[0])
  })
})
