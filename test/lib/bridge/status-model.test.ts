import fc from 'fast-check'
import { type Hash, keccak256 } from 'viem'
import { describe, expect } from 'vitest'
import { localConfig } from '../../../infra/local/dynamo.ts'
import { documentClient } from '../../../lib/aws/dynamo.ts'
import { readTransfer } from '../../../lib/bridge/status.ts'
import { transfersTable } from '../../../lib/bridge/table.ts'
import { createRpc } from '../../../lib/chain/nodes.ts'
import { type ChainReader, chainReader } from '../../../lib/chain/reader.ts'
import { evmChain } from '../../../lib/chain/registry.ts'
import type { Rpc } from '../../../lib/chain/rpc.ts'
import { USERS } from '../../support/service.ts'
import { ARBITRUM, BASE, test as base, type StateName, type Transfer, type Transfers } from '../../support/transfers.ts'
import { openLagoonVault, ROLES, type TestVault } from '../../support/vaults.ts'

const [ALICE] = USERS
const SOURCE = ARBITRUM
const DESTINATION = BASE
/** Blocks become final soon here, so that this too happens at any time. */
const UNTIL_FINAL: Readonly<Record<number, number>> = { [SOURCE]: 9, [DESTINATION]: 6 }
/** A transfer of this much is larger than all before, so that no refund of those could be its own. */
let lastAmount = 10_000_000n

/** What a question asked of the chains: how often, and how often it waited for an answer before it went on. */
type Meter = { requests: number; serial: number }

/** What the chains know of a transfer, by a model that has never seen the service. */
type Model = {
  mined: boolean
  slowFillRequested: boolean
  fill: { readonly hash: Hash; readonly delivered: bigint; readonly failed: boolean } | undefined
  refund: Hash | undefined
}

type World = {
  readonly transfers: Transfers
  readonly vault: TestVault
  readonly ask: (hash: Hash) => Promise<{ status: Awaited<ReturnType<typeof readTransfer>>['status']; meter: Meter }>
}

const test = base.extend('world', async ({ service, transfers }, { onCleanup }): Promise<World> => {
  const client = documentClient(localConfig(service.backends.dynamo.endpoint))
  onCleanup(() => client.destroy())
  const table = transfersTable(client, service.backends.dynamo.tableNames.deposits)
  let meter = { requests: 0, serial: 0 }
  let answered = 0
  const counted =
    (rpc: Rpc): Rpc =>
    async (requests) => {
      const turn = answered + 1
      meter.requests += 1
      meter.serial = Math.max(meter.serial, turn)
      const outcomes = await rpc(requests)
      answered = Math.max(answered, turn)
      return outcomes
    }
  const readers = new Map(
    [SOURCE, DESTINATION].map((chainId): [number, ChainReader] => {
      const chain = evmChain(chainId)
      if (!chain) throw new Error(`There is no chain ${chainId}`)
      const world = { fetch, random: () => 0, now: () => performance.now() }
      const rpc = counted(createRpc([transfers.chainOf(chainId).rpcUrl], world))
      return [chainId, chainReader({ ...chain, finalityBlocks: UNTIL_FINAL[chainId] ?? 0 }, rpc)]
    }),
  )
  const readerOf = (chainId: number) => readers.get(chainId) as ChainReader
  return {
    transfers,
    vault: await openLagoonVault(service, { generation: '0.5' }),
    async ask(transactionHash) {
      meter = { requests: 0, serial: 0 }
      answered = 0
      const key = { sourceChainId: SOURCE, transactionHash, index: 0 }
      const { status } = await readTransfer({ readerOf, transfers: table }, key)
      return { status, meter }
    },
  }
})

/** A transfer that is prepared but not sent yet, what there is of it, and what the model knows. */
type Play = World & {
  readonly signed: `0x${string}`
  readonly hash: Hash
  transfer: Transfer | undefined
  readonly model: Model
}

async function start(world: World): Promise<Play> {
  const { transfers, vault } = world
  lastAmount += 1_000_000n
  const order = await transfers.depositCall({ into: vault, inputAmount: lastAmount, seconds: 4_000 })
  const signed = await transfers.sign(SOURCE, ALICE, order)
  const model = { mined: false, slowFillRequested: false, fill: undefined, refund: undefined }
  return { ...world, signed, hash: keccak256(signed), transfer: undefined, model }
}

/** The time of the destination against the deadline: a fill must come some seconds before it. */
async function isOpen({ transfers, transfer, model }: Play): Promise<boolean> {
  if (!transfer || model.fill) return false
  return (await transfers.clockOf(DESTINATION)) + 30 < transfer.deposit.fillDeadline
}

async function isExpired({ transfers, transfer, model }: Play): Promise<boolean> {
  if (!transfer || model.fill) return false
  return (await transfers.clockOf(DESTINATION)) > transfer.deposit.fillDeadline
}

type Fill = (transfer: Transfer, transfers: Transfers) => Promise<Hash>

/** A fill that the vault takes or, being paused for the moment, refuses. */
async function fill(play: Play, { failed, amount, by }: { failed: boolean; amount?: bigint; by: Fill }): Promise<void> {
  const { transfer, transfers, vault, model } = play
  if (!transfer) return
  if (failed) await vault.act(ROLES.admin, 'pause')
  const hash = await by(transfer, transfers)
  if (failed) await vault.act(ROLES.admin, 'unpause')
  model.fill = { hash, failed, delivered: amount ?? transfer.deposit.outputAmount }
}

const byStranger: Fill = (transfer, transfers) => transfers.sendTogether(DESTINATION, transfers.fillCalls(transfer))
const byRelayer: Fill = ({ deposit }, { relayer }) => relayer.fill(deposit)

async function fillSlowly(play: Play, failed: boolean, difference: bigint): Promise<void> {
  if (!play.model.slowFillRequested || !(await isOpen(play)) || !play.transfer) return
  const amount = play.transfer.deposit.outputAmount + difference
  await fill(play, { failed, amount, by: ({ deposit }, { relayer }) => relayer.executeSlowFill(deposit, amount) })
}

/** What may happen on the chains; where it cannot happen now, nothing does. */
const EVENTS = {
  async deposit(play: Play) {
    const { transfers, signed, hash, model } = play
    if (model.mined) return
    await transfers.sendSigned(SOURCE, signed)
    play.transfer = (await transfers.transfersIn(SOURCE, hash))[0]
    model.mined = true
  },
  async sourceBlock({ transfers }: Play) {
    await transfers.mine(SOURCE, 1)
  },
  async destinationBlock({ transfers }: Play) {
    await transfers.mine(DESTINATION, 1)
  },
  async slowFillRequest(play: Play) {
    const { transfers, transfer, model } = play
    if (model.slowFillRequested || !(await isOpen(play)) || !transfer) return
    await transfers.relayer.requestSlowFill(transfer.deposit)
    model.slowFillRequested = true
  },
  async fill(play: Play) {
    if (await isOpen(play)) await fill(play, { failed: false, by: byRelayer })
  },
  async fillByStranger(play: Play) {
    if (await isOpen(play)) await fill(play, { failed: false, by: byStranger })
  },
  async failingFill(play: Play) {
    if (await isOpen(play)) await fill(play, { failed: true, by: byStranger })
  },
  slowFill: (play: Play) => fillSlowly(play, false, 12_345n),
  failingSlowFill: (play: Play) => fillSlowly(play, true, -54_321n),
  async minutesPass({ transfers }: Play) {
    await transfers.relayer.advance(300)
  },
  async deadlinePasses({ transfers, transfer }: Play) {
    if (transfer) await transfers.letExpire(transfer)
  },
  async refund(play: Play) {
    const { transfers, transfer, model } = play
    if (model.refund || !(await isExpired(play)) || !transfer) return
    // Refunds come long after the deadline, whatever little the chains' clocks differ.
    await transfers.letExpire(transfer)
    model.refund = await transfers.relayer.refund(transfer.deposit)
  },
  async settlement({ vault }: Play) {
    await vault.settle()
  },
  async finality({ transfers }: Play) {
    for (const chainId of [SOURCE, DESTINATION]) await transfers.mine(chainId, UNTIL_FINAL[chainId] ?? 0)
  },
} satisfies Record<string, (play: Play) => Promise<void>>
type EventName = keyof typeof EVENTS

/** What the status must be now. */
async function expectedState(play: Play): Promise<StateName> {
  const { mined, fill, refund } = play.model
  if (!mined) return 'pending'
  if (fill) return fill.failed ? 'destination_action_failed' : 'completed'
  if (!(await isExpired(play))) return 'bridging'
  return refund ? 'refunded' : 'expired'
}

/** Whether the last answer is final now: its block is as deep as it takes. */
async function isFinal({ transfers, model: { fill, refund } }: Play): Promise<boolean> {
  const [chainId, hash] = fill ? [DESTINATION, fill.hash] : [SOURCE, refund]
  if (!hash) return false
  const { blockNumber } = await transfers.receiptOf(chainId, hash)
  return (await transfers.chainHead(chainId)) - blockNumber >= (UNTIL_FINAL[chainId] ?? 0)
}

/** A status only ever goes to one of a higher rank. */
const RANKS: Record<StateName, number> = {
  pending: 0,
  bridging: 1,
  expired: 2,
  completed: 3,
  destination_action_failed: 3,
  refunded: 3,
  source_reverted: 3,
  no_deposit_in_transaction: 3,
}
/** How many answers a question may wait for, one after the other. */
const BUDGET: Record<StateName, number> = {
  pending: 1,
  bridging: 2,
  expired: 3,
  completed: 4,
  destination_action_failed: 4,
  refunded: 4,
  source_reverted: 1,
  no_deposit_in_transaction: 1,
}

/** Plays events one after the other and asks after each. Gives every state that was met. */
async function playAll(world: World, events: readonly EventName[]): Promise<StateName[]> {
  const play = await start(world)
  const met: StateName[] = []
  let stored = false
  const check = async () => {
    const { transfers, transfer, hash, model } = play
    const state = await expectedState(play)
    const final = await isFinal(play)
    const { status, meter } = await play.ask(hash)

    const failed = state !== 'pending' && state !== 'bridging' && state !== 'completed'
    const bridged = model.fill ? await transfers.timeOf(DESTINATION, model.fill.hash) : null
    const terminal = RANKS[state] === 3
    expect({ ...status, nextPollAfterMs: status.nextPollAfterMs === null }).toEqual({
      depositId: hash,
      status: failed ? 'failed' : state,
      statusDescription: expect.any(String),
      reason: failed ? state : null,
      terminal,
      nextPollAfterMs: terminal,
      srcChain: { id: SOURCE, name: 'Arbitrum One' },
      dstChain: model.mined ? { id: DESTINATION, name: 'Base' } : null,
      inputAmount: transfer?.deposit.inputAmount ?? null,
      outputAmount: model.fill?.delivered ?? null,
      timestamps: {
        initiated: model.mined ? new Date(await transfers.timeOf(SOURCE, hash)) : null,
        bridged: bridged && new Date(bridged),
        completed: bridged && state === 'completed' ? new Date(bridged) : null,
      },
      transactions: { source: hash, fill: model.fill?.hash ?? null },
    })
    expect(RANKS[state]).toBeGreaterThanOrEqual(RANKS[met.at(-1) ?? 'pending'])
    expect(meter.serial).toBeLessThanOrEqual(stored ? 0 : BUDGET[state])
    expect(meter.requests > 0).toBe(!stored)
    stored ||= terminal && final
    met.push(state)
  }
  await check()
  for (const event of events) {
    await EVENTS[event](play)
    await check()
  }
  return met
}

describe('The status of a transfer follows what happens on the chains', () => {
  const LIVES: [string, EventName[], StateName[]][] = [
    ['a quick fill', ['deposit', 'fill', 'finality', 'settlement'], ['pending', 'bridging', 'completed']],
    [
      'a fill by a stranger, long after',
      ['deposit', 'finality', 'minutesPass', 'fillByStranger', 'deadlinePasses', 'finality', 'destinationBlock'],
      ['pending', 'bridging', 'completed'],
    ],
    [
      'a slow fill',
      ['deposit', 'slowFillRequest', 'minutesPass', 'slowFill', 'deadlinePasses', 'finality', 'finality'],
      ['pending', 'bridging', 'completed'],
    ],
    [
      'a fill that the vault refuses',
      ['deposit', 'settlement', 'failingFill', 'settlement', 'finality', 'sourceBlock'],
      ['pending', 'bridging', 'destination_action_failed'],
    ],
    [
      'a slow fill that the vault refuses',
      ['deposit', 'slowFillRequest', 'failingSlowFill', 'finality', 'deadlinePasses'],
      ['pending', 'bridging', 'destination_action_failed'],
    ],
    [
      'no fill',
      ['deposit', 'deadlinePasses', 'minutesPass', 'finality', 'refund', 'sourceBlock', 'finality', 'finality'],
      ['pending', 'bridging', 'expired', 'refunded'],
    ],
  ]

  test.for(LIVES)('through %s', async ([, events, states], { world }) => {
    const met = await playAll(world, events)
    expect(met.filter((state, i) => state !== met[i - 1])).toEqual(states)
  })

  test('through any sequence of events, never goes backwards, and waits for at most three answers while unfinished', async ({
    world,
  }) => {
    const names = Object.keys(EVENTS) as EventName[]
    // The deadline ends most of what can happen, so it comes seldom.
    const anyEvent = fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...names.filter((name) => name !== 'deadlinePasses')) },
      { weight: 1, arbitrary: fc.constantFrom<EventName>('deadlinePasses', 'deposit', 'finality') },
    )
    const before = fc.array(fc.constantFrom<EventName>('sourceBlock', 'destinationBlock', 'minutesPass'), {
      maxLength: 2,
    })
    const anyEvents = fc
      .tuple(before, fc.array(anyEvent, { minLength: 4, maxLength: 10 }))
      .map(([first, rest]): EventName[] => [...first, 'deposit', ...rest])
    await fc.assert(
      fc.asyncProperty(anyEvents, async (events) => {
        await playAll(world, events)
      }),
      { numRuns: 40 },
    )
  })
})
