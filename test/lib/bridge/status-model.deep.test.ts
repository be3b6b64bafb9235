import fc from 'fast-check'
import { encodeAbiParameters, encodeEventTopics, type Hash, keccak256, numberToHex, pad, parseAbi, slice } from 'viem'
import { describe, expect } from 'vitest'
import { depositSourceStore } from '../../../lib/activity/deposit-source-store.ts'
import { quotesStore } from '../../../lib/bridge/quote-store.ts'
import { readTransfersByHash } from '../../../lib/bridge/status.ts'
import { transfersStore } from '../../../lib/bridge/store.ts'
import type { TransferStatus } from '../../../lib/bridge/transfer.ts'
import { createRpc } from '../../../lib/chain/nodes.ts'
import { type ChainReader, createChainReader } from '../../../lib/chain/reader.ts'
import { type EvmChain, evmChain } from '../../../lib/chain/registry.ts'
import type { Rpc } from '../../../lib/chain/rpc.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { toResult } from '../../../lib/core/result.ts'
import { createAgreedReaderOf } from '../../support/agreed.ts'
import { ARBITRUM, BASE } from '../../support/oracles.ts'
import { scaleSampleCount } from '../../support/runs.ts'
import { USERS } from '../../support/service.ts'
import { test as base, type StateName, type Transfer, type Transfers } from '../../support/transfers.ts'
import { openLagoonVault, ROLES, type TestVault } from '../../support/vaults.ts'

const [ALICE] = USERS
const REFUND_ABI = parseAbi([
  'event ClaimedRelayerRefund(bytes32 indexed l2TokenAddress, bytes32 indexed refundAddress, uint256 amount, address indexed caller)',
])
const SOURCE = ARBITRUM
const DESTINATION = BASE
/**
 * Minimum age of a final block in seconds. It is short, so that blocks become final within a test. A final block is
 * also two blocks below the newest one.
 */
const FINAL_SECONDS = 30
const SAFE_BEHIND = 2n
/**
 * Deposited amount of the last transfer. Each transfer has an amount of its own, so that refunds cannot be confused.
 */
let lastAmount = 10_000_000n

/** Cost of one status read: HTTP requests to nodes, sequential round trips, and RPC calls. */
type Meter = { requests: number; serial: number; calls: number }

/** Expected facts about a transfer on the chains. It shares no code with the service. */
type Model = {
  mined: boolean
  slowFillRequested: boolean
  fill: { readonly hash: Hash; readonly delivered: bigint; readonly failed: boolean } | undefined
  refund: Hash | undefined
}

type World = {
  readonly transfers: Transfers
  readonly vault: TestVault
  /**
   * Reads a transfer's status. With `lies`, one of two nodes returns false results. `witness` can change the results
   * of the honest node.
   */
  readonly ask: (
    hash: Hash,
    lies?: Parameters<typeof wrapLying>[1],
    witness?: (honest: Rpc) => Rpc,
  ) => Promise<{ status: TransferStatus; meter: Meter }>
}

const test = base
  .extend('vault', { scope: 'file' }, ({ sharedService }) => openLagoonVault(sharedService, { generation: '0.5' }))
  .extend('world', async ({ service, transfers, vault }): Promise<World> => {
    const table = transfersStore(service.tables.deposits)
    const sources = depositSourceStore(service.tables.deposits)
    let meter = { requests: 0, serial: 0, calls: 0 }
    let answered = 0
    const counted =
      (rpc: Rpc): Rpc =>
      async (requests) => {
        const turn = answered + 1
        meter.requests += 1
        meter.calls += requests.length
        meter.serial = Math.max(meter.serial, turn)
        const outcomes = await rpc(requests)
        answered = Math.max(answered, turn)
        return outcomes
      }
    const chainOf = (chainId: number): EvmChain => {
      const chain = evmChain(chainId)
      if (!chain) throw new Error(`There is no chain ${chainId}`)
      return { ...chain, finality: { tag: 'safe', seconds: FINAL_SECONDS } }
    }
    const rpcOf = (chainId: number) =>
      createRpc([transfers.chainOf(chainId).rpcUrl], { fetch, random: () => 0, now: () => performance.now() })
    const readers = new Map(
      [SOURCE, DESTINATION].map((chainId): [number, ChainReader] => [
        chainId,
        createChainReader(chainOf(chainId), counted(rpcOf(chainId))),
      ]),
    )
    const getReader = (chainId: number) => readers.get(chainId) as ChainReader
    return {
      transfers,
      vault,
      async ask(transactionHash, lies, second) {
        meter = { requests: 0, serial: 0, calls: 0 }
        answered = 0
        const question = { sourceChainId: SOURCE, hash: transactionHash, index: 0 }
        const read = (from: typeof getReader, isRecorded = true) =>
          readTransfersByHash(
            {
              getReader: from,
              fetchHint: async () => ({}),
              transfers: table,
              quotes: quotesStore(service.tables.deposits),
              depositSources: sources,
            },
            question,
            (keep) => keep.lookAt ?? new Date(),
            { isRecorded },
          )
        if (!lies) return { status: (await read(getReader)).statuses[0], meter }

        const liar = (chainId: number) => wrapLying(rpcOf(chainId), lies)
        const honest = (chainId: number) => second?.(getReader(chainId).request) ?? getReader(chainId).request
        const agreed = await toResult(
          read((chainId) => createAgreedReaderOf(chainOf(chainId), [liar(chainId), honest(chainId)])),
        )
        if ('value' in agreed) return { status: agreed.value.statuses[0], meter }
        expect(['nodes_disagree', 'second_node_silent']).toContain(agreed.error.code)
        const getLyingReader = (chainId: number) => createChainReader(chainOf(chainId), liar(chainId))
        return { status: (await read(getLyingReader, false)).statuses[0], meter }
      },
    }
  })

type Play = World & {
  readonly signed: `0x${string}`
  readonly hash: Hash
  transfer: Transfer | undefined
  readonly model: Model
}

async function start(world: World): Promise<Play> {
  const { transfers, vault } = world
  lastAmount += 1_000_000n
  // Two days pass, so that the service cannot confuse refunds of earlier transfers with the refund of this transfer.
  await transfers.passDays(2)
  const order = await transfers.depositCall({ into: vault, inputAmount: lastAmount, seconds: 4_000 })
  const signed = await transfers.sign(SOURCE, ALICE, order)
  const model = { mined: false, slowFillRequested: false, fill: undefined, refund: undefined }
  return { ...world, signed, hash: keccak256(signed), transfer: undefined, model }
}

/** Returns true if the transfer is unfilled and at least 30 seconds are left before its fill deadline. */
async function isOpen({ transfers, transfer, model }: Play): Promise<boolean> {
  if (!transfer || model.fill) return false
  return (await transfers.clockOf(DESTINATION)) + 30 < transfer.deposit.fillDeadline
}

async function isExpired({ transfers, transfer, model }: Play): Promise<boolean> {
  if (!transfer || model.fill) return false
  return (await transfers.clockOf(DESTINATION)) > transfer.deposit.fillDeadline
}

type Fill = (transfer: Transfer, transfers: Transfers) => Promise<Hash>

/** Fills the transfer. The vault is paused during the fill if the vault's deposit must fail. */
async function fill(play: Play, { failed, amount, by }: { failed: boolean; amount?: bigint; by: Fill }): Promise<void> {
  const { transfer, transfers, vault, model } = play
  if (!transfer) return
  if (failed) await vault.act(ROLES.admin, 'pause')
  const hash = await by(transfer, transfers)
  if (failed) await vault.act(ROLES.admin, 'unpause')
  model.fill = { hash, failed, delivered: amount ?? transfer.deposit.outputAmount }
}

const fillByThirdParty: Fill = (transfer, transfers) =>
  transfers.sendTogether(DESTINATION, transfers.fillCalls(transfer))
const byRelayer: Fill = ({ deposit }, { relayer }) => relayer.fill(deposit)

async function fillSlowly(play: Play, failed: boolean, difference: bigint): Promise<void> {
  if (!play.model.slowFillRequested || !(await isOpen(play)) || !play.transfer) return
  const amount = play.transfer.deposit.outputAmount + difference
  await fill(play, { failed, amount, by: ({ deposit }, { relayer }) => relayer.executeSlowFill(deposit, amount) })
}

/** Events that can happen to a transfer. An event that is impossible at the moment does nothing. */
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
    if (await isOpen(play)) await fill(play, { failed: false, by: fillByThirdParty })
  },
  async failingFill(play: Play) {
    if (await isOpen(play)) await fill(play, { failed: true, by: fillByThirdParty })
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
    // The refund comes long after the fill deadline, because the clocks of both chains differ a little.
    await transfers.letExpire(transfer)
    model.refund = await transfers.relayer.refund(transfer.deposit)
  },
  async settlement({ vault }: Play) {
    await vault.settle()
  },
  async finality({ transfers }: Play) {
    for (const chainId of [SOURCE, DESTINATION]) await transfers.mine(chainId, 5, FINAL_SECONDS)
  },
} satisfies Record<string, (play: Play) => Promise<void>>
type EventName = keyof typeof EVENTS

async function expectedState(play: Play): Promise<StateName> {
  const { mined, fill, refund } = play.model
  if (!mined) return 'pending'
  if (fill) return fill.failed ? 'destination_action_failed' : 'completed'
  if (!(await isExpired(play))) return 'bridging'
  return refund && (await isDeep(play, SOURCE, refund)) ? 'refunded' : 'expired'
}

async function isDeep({ transfers }: Play, chainId: number, hash: Hash): Promise<boolean> {
  const { blockNumber } = await transfers.receiptOf(chainId, hash)
  const age = (await transfers.clockOf(chainId)) - (await transfers.clockOf(chainId, blockNumber))
  return (await transfers.chainHead(chainId)) - blockNumber >= SAFE_BEHIND && age >= FINAL_SECONDS
}

/** Rank of each status. The status of a transfer must never change to a lower rank. */
const RANKS: Record<StateName, number> = {
  pending: 0,
  bridging: 1,
  expired: 2,
  undecided: 3,
  completed: 3,
  destination_action_failed: 3,
  refunded: 3,
  source_reverted: 3,
  no_deposit_in_transaction: 3,
  source_dropped: 3,
  refund_not_found: 3,
  refund_owed: 2,
  undelivered: 3,
  destination_not_followed: 3,
}
function stateOf({ status, reason }: { readonly status: string; readonly reason: string | null }): StateName {
  return (status === 'failed' ? reason : status) as StateName
}

function isReported(status: Parameters<typeof stateOf>[0], state: StateName): boolean {
  return stateOf(status) === state
}

async function isOver(play: Play): Promise<boolean> {
  const { fill, refund } = play.model
  if (!(await isDeep(play, SOURCE, play.hash))) return false
  return fill ? isDeep(play, DESTINATION, fill.hash) : refund !== undefined && isDeep(play, SOURCE, refund)
}

/** Applies events in order. Reads and checks the status after each event. Returns the statuses. */
async function playAll(world: World, events: readonly EventName[]): Promise<StateName[]> {
  const play = await start(world)
  const met: StateName[] = []
  let stored = false
  const check = async () => {
    const { transfers, transfer, hash, model } = play
    const state = await expectedState(play)
    // Several reads may be needed, because each read searches only a part of the chain and the next read continues.
    let answer = await play.ask(hash)
    for (let question = 0; question < 12 && !isReported(answer.status, state); question += 1) {
      expect(RANKS[stateOf(answer.status)]).toBeLessThanOrEqual(RANKS[state])
      answer = await play.ask(hash)
    }
    const { status, meter } = answer

    const failed = state !== 'pending' && state !== 'bridging' && state !== 'completed'
    const bridged = model.fill ? await transfers.timeOf(DESTINATION, model.fill.hash) : null
    const terminal = RANKS[state] === 3
    expect({ ...status, nextPollAfterMs: status.nextPollAfterMs === null }).toMatchObject({
      depositId: hash,
      status: failed ? 'failed' : state,
      statusDescription: expect.any(String),
      reason: failed ? state : null,
      action: model.mined ? 'deposit' : null,
      terminal,
      final: expect.any(Boolean),
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
    expect(meter.serial).toBeLessThanOrEqual(6)
    expect(meter.calls).toBeLessThanOrEqual(8)
    // The service reads no node for a final status, because it has stored that status.
    expect(meter.requests > 0).toBe(!stored)
    if (stored) expect(status.final).toBe(true)
    if (status.final) expect(await isOver(play)).toBe(true)
    stored = status.final
    met.push(state)
  }
  await check()
  for (const event of events) {
    await EVENTS[event](play)
    await check()
  }
  return met
}

function wrapLying(rpc: Rpc, lies: Readonly<Record<string, (result: unknown) => unknown>>): Rpc {
  return async (requests) => {
    const outcomes = await rpc(requests)
    return outcomes.map((outcome, index) => {
      const lie = lies[requests[index]?.method ?? '']
      return lie && 'result' in outcome ? { result: lie(outcome.result) } : outcome
    })
  }
}

describe('A status is not final if only one of two nodes reports it:', () => {
  type Raw = Record<string, unknown>
  const LIES: [
    string,
    { lies: Parameters<typeof wrapLying>[1]; lied: StateName; truth: StateName; filled: boolean },
  ][] = [
    [
      'a receipt that says reverted',
      {
        lies: { eth_getTransactionReceipt: (receipt) => receipt && { ...(receipt as Raw), status: '0x0' } },
        ...{ lied: 'source_reverted', truth: 'completed', filled: true },
      },
    ],
    [
      'no receipts, and a nonce that is used',
      {
        lies: {
          eth_getTransactionReceipt: () => null,
          eth_getTransactionByHash: () => null,
          eth_getTransactionCount: () => '0xffff',
        },
        ...{ lied: 'bridging', truth: 'completed', filled: false },
      },
    ],
    [
      'receipts without their last logs',
      {
        lies: {
          eth_getTransactionReceipt: (receipt) =>
            receipt && { ...(receipt as Raw), logs: ((receipt as Raw)['logs'] as unknown[]).slice(0, 5) },
        },
        ...{ lied: 'bridging', truth: 'completed', filled: true },
      },
    ],
    [
      'a head that is far too high',
      {
        lies: {
          eth_getBlockByNumber: (block) => ({ ...(block as Raw), number: '0xfffffff', timestamp: '0xfffffffff' }),
        },
        ...{ lied: 'completed', truth: 'completed', filled: true },
      },
    ],
  ]

  test.for(LIES)('%s', async ([, { lies, lied, truth, filled }], { world }) => {
    const play = await start(world)
    const { transfers, hash } = play
    await EVENTS.deposit(play)
    await play.ask(hash)
    if (filled) await EVENTS.fill(play)
    const isTooHigh = lies['eth_getBlockByNumber'] !== undefined
    if (!isTooHigh) await transfers.relayer.advance(60)
    for (let question = 0; question < 5; question += 1) {
      const { status } = await play.ask(hash, lies)
      expect(stateOf(status)).toBe(lied)
      expect(status.final).toBe(false)
    }
    if (!filled) await EVENTS.fill(play)
    await EVENTS.finality(play)
    for (let question = 0; question < 3; question += 1) await play.ask(hash)
    const { status } = await play.ask(hash)
    expect([stateOf(status), status.final]).toEqual([truth, true])
  })
})

describe('A missing refund after two weeks', () => {
  const openLong = async (world: World, ...events: EventName[]) => {
    const play = await start(world)
    for (const event of ['deposit', 'deadlinePasses', 'finality', ...events] as const) await EVENTS[event](play)
    await world.transfers.passDays(15)
    await EVENTS.finality(play)
    return play
  }
  const NO_LIES = {}

  test('is final once two hosts have reported it', async ({ world }) => {
    const { hash } = await openLong(world)
    const states: (readonly [StateName, boolean])[] = []
    for (let question = 0; question < 12 && !states.at(-1)?.[1]; question += 1) {
      const { status, meter } = await world.ask(hash, NO_LIES)
      expect(meter.calls).toBeLessThanOrEqual(8)
      states.push([stateOf(status), status.final])
    }
    expect(states.at(-1)).toEqual(['refund_not_found', true])
    for (const [state] of states.slice(0, -1)) expect(['bridging', 'expired']).toContain(state)
  })

  test('is not reported if one host hides events, and the refund is found once it shows them', async ({ world }) => {
    const { hash } = await openLong(world, 'refund')
    for (let question = 0; question < 16; question += 1) {
      const { status, meter } = await world.ask(hash, { eth_getLogs: () => [] })
      expect(meter.calls).toBeLessThanOrEqual(8)
      expect(['bridging', 'expired']).toContain(stateOf(status))
      expect(status.final).toBe(false)
    }
    let lastState: readonly [StateName, boolean] | undefined
    for (let question = 0; question < 12 && !lastState?.[1]; question += 1) {
      const { status } = await world.ask(hash, NO_LIES)
      lastState = [stateOf(status), status.final]
    }
    expect(lastState).toEqual(['refunded', true])
  })

  test('is reported even if one host invents a payment, which is never final', async ({ world }) => {
    const { hash, transfer } = await openLong(world)
    const { transfers } = world
    if (!transfer) throw new Error('The deposit was not made')
    const { inputToken, depositor, inputAmount } = transfer.deposit
    const block = (await transfers.chainHead(SOURCE)) - 4n
    const paid = {
      address: transfers.poolOf(SOURCE),
      topics: encodeEventTopics({
        abi: REFUND_ABI,
        eventName: 'ClaimedRelayerRefund',
        args: { l2TokenAddress: pad(inputToken), refundAddress: pad(depositor), caller: slice(depositor, -20) },
      }),
      data: encodeAbiParameters([{ type: 'uint256' }], [inputAmount]),
      ...{ logIndex: '0x0', blockNumber: numberToHex(block), transactionHash: hash },
      blockTimestamp: numberToHex(await transfers.clockOf(SOURCE, block)),
    }
    const lies = { eth_getLogs: (logs: unknown) => [...(logs as object[]), paid] }
    const states = new Set<StateName>()
    for (let question = 0; question < 12; question += 1) {
      const { status } = await world.ask(hash, lies)
      expect(status.final).toBe(false)
      states.add(stateOf(status))
    }
    // The transaction's receipt does not contain the invented payment, so the service must not report a refund.
    expect([...states]).not.toContain('refunded')
    let last: readonly [StateName, boolean] | undefined
    for (let question = 0; question < 12 && !last?.[1]; question += 1) {
      const { status } = await world.ask(hash, NO_LIES)
      last = [stateOf(status), status.final]
    }
    expect(last).toEqual(['refund_not_found', true])
  })

  test('is not reported while the second host returns no events', async ({ world }) => {
    const { hash } = await openLong(world)
    const withoutEvents =
      (rpc: Rpc): Rpc =>
      async (requests) => {
        if (requests.some(({ method }) => method === 'eth_getLogs')) throw new AppError('upstream_timeout')
        return rpc(requests)
      }
    let lastState = ''
    for (let question = 0; question < 8; question += 1) {
      const { status } = await world.ask(hash, NO_LIES, withoutEvents)
      expect(status.final).toBe(false)
      lastState = stateOf(status)
    }
    expect(lastState).toBe('expired')
  })
})

describe('The status of a transfer follows the chains', () => {
  const LIVES: [string, EventName[], StateName[]][] = [
    ['a quick fill', ['deposit', 'fill', 'finality', 'settlement'], ['pending', 'bridging', 'completed']],
    [
      'a late fill by a third party',
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

  test('through any sequence of events, never backwards, with at most 8 calls in 6 sequential requests', async ({
    world,
  }) => {
    const names = Object.keys(EVENTS) as EventName[]
    // The event `deadlinePasses` is rare, because few other events are possible after it.
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
      { numRuns: scaleSampleCount(5) },
    )
  })
})
