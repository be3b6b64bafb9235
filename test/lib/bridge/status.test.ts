import { isDeepStrictEqual } from 'node:util'
import { type Address, type Hash, type Hex, numberToHex, pad } from 'viem'
import { describe, expect, test } from 'vitest'
import { relayHash } from '../../../lib/bridge/events.ts'
import { readTransfer } from '../../../lib/bridge/status.ts'
import type { BridgeDeposit, Transfer, TransferStatus } from '../../../lib/bridge/transfer.ts'
import { required } from '../../../lib/chain/call.ts'
import { DAY, HOUR, toDate } from '../../../lib/time.ts'
import {
  callsFailed,
  depositLog,
  depositOf,
  drained,
  emit,
  fillLog,
  POOL,
  requested,
  TOKEN,
  type Unplaced,
} from '../../support/bridge-events.ts'
import { chainInMemory, type MemoryChain, type MemoryTransaction } from '../../support/chain-in-memory.ts'
import { ARBITRUM, BASE, POOLS } from '../../support/oracles.ts'

const [USER, VAULT, STRANGER] = ['0xa1', '0xc3', '0xd4'].map((byte) => pad(byte as Hex, { size: 20 })) as [
  Address,
  Address,
  Address,
]
const [SENT, FILL] = [numberToHex(1, { size: 32 }), numberToHex(2, { size: 32 })]
const SOURCE_POOL = POOLS[ARBITRUM] as Address
const START = 1_800_000_000n
const DEADLINE = START + 2n * BigInt(HOUR)
const [UNFILLED, SLOW_FILL_REQUESTED, FILLED] = [0n, 1n, 2n]

const withTerms = (deposit: BridgeDeposit, terms: Partial<BridgeDeposit['relayData']>): BridgeDeposit => ({
  ...deposit,
  relayData: { ...deposit.relayData, ...terms },
})
const DEPOSIT = withTerms(depositOf({ user: USER, vault: VAULT, id: 1n, amount: 100n }), {
  fillDeadline: Number(DEADLINE),
})
/** The record once the deposit's block is final. */
const BRIDGED: Transfer = {
  source: { deposit: DEPOSIT, initiated: toDate(START), blockNumber: 1n, isFinal: true },
}

type World = { readonly source?: Partial<MemoryChain>; readonly destination?: Partial<MemoryChain> }

/** One poll of the transfer: its status and what is recorded then. */
async function poll(recorded: Transfer, { source, destination }: World) {
  const readers = new Map([
    [ARBITRUM, chainInMemory({ id: ARBITRUM, times: [START], ...source })],
    [BASE, chainInMemory({ id: BASE, times: [START], ...destination })],
  ])
  let kept = recorded
  const record = async (_: unknown, transfer: Transfer) => {
    kept = transfer
    return true
  }
  const { status } = await readTransfer(
    {
      getReader: (chainId) => required(readers.get(chainId)),
      transfers: { record, follow: async () => true },
      sources: { record: async () => {} },
    },
    { key: { sourceChainId: ARBITRUM, transactionHash: SENT, index: 0 }, recorded },
    () => undefined,
  )
  return { status, recorded: kept }
}

/** Polls until a poll records nothing new. */
async function settle(recorded: Transfer, world: World): Promise<TransferStatus> {
  const next = await poll(recorded, world)
  return isDeepStrictEqual(next.recorded, recorded) ? next.status : settle(next.recorded, world)
}

const stateOf = ({ status, reason, terminal, final }: TransferStatus) => ({ status, reason, terminal, final })
const BRIDGING = { status: 'bridging', reason: null, terminal: false, final: false }
const EXPIRED = { status: 'failed', reason: 'expired', terminal: false, final: false }
const PENDING = { ...BRIDGING, status: 'pending' }
const endedFor = (reason: string) => ({ status: 'failed', reason, terminal: true, final: true })

const poolSays = (...statuses: readonly [bigint, ...bigint[]]) => {
  const left = [...statuses]
  return { answers: { fillStatuses: () => (left.length > 1 ? left.shift() : left[0]) } }
}
const filledWith = (effects: readonly Unplaced[]): MemoryTransaction[] => [
  { hash: FILL, block: 1, logs: [fillLog(DEPOSIT, { amount: 90n }), ...effects] },
]

describe('A transfer that the pool does not call filled', () => {
  test.for<[seconds: number, state: object]>([
    [-1, BRIDGING],
    [0, BRIDGING],
    [1, EXPIRED],
  ])('can be filled up to its deadline by the clock of the destination: %i s after it', async ([seconds, state]) => {
    const destination = { times: [START, DEADLINE + BigInt(seconds)], contracts: poolSays(UNFILLED) }
    expect(stateOf((await poll(BRIDGED, { destination })).status)).toEqual(state)
  })

  test('is bridging while a slow fill is requested', async () => {
    const destination = { times: [START, START + 1n], contracts: poolSays(SLOW_FILL_REQUESTED) }
    const { status } = await poll(BRIDGED, { destination })
    expect(status).toMatchObject({ ...BRIDGING, nextPollAfterMs: 60_000 })
  })

  test.for<[after: string, seconds: bigint, says: readonly [bigint, ...bigint[]]]>([
    ['a node behind did not know of it', 600n, [UNFILLED, FILLED]],
    ['it expired in a block that is not final', 1n, [UNFILLED, UNFILLED, FILLED]],
  ])('is found filled after %s', async ([, seconds, says]) => {
    const destination = {
      times: [START, DEADLINE, DEADLINE + seconds],
      contracts: poolSays(...says),
      transactions: filledWith([requested(USER, VAULT, 90n)]),
    }
    const first = await poll(BRIDGED, { destination })
    expect(stateOf(first.status)).toEqual(EXPIRED)
    expect(await settle(first.recorded, { destination })).toMatchObject({ status: 'completed', outputAmount: 90n })
  })
})

describe('A transfer that is filled', () => {
  const times = [START, START + 60n, START + BigInt(HOUR)]
  const arrived = toDate(START + 60n)
  const settleWith = (...effects: Unplaced[]) =>
    settle(BRIDGED, { destination: { times, contracts: poolSays(FILLED), transactions: filledWith(effects) } })

  test('is completed with what the fill delivered once the vault takes it', async () => {
    expect(await settleWith(requested(USER, VAULT, 90n))).toMatchObject({
      ...{ status: 'completed', reason: null, terminal: true, final: true, outputAmount: 90n },
      timestamps: { initiated: toDate(START), bridged: arrived, completed: arrived },
      transactions: { source: SENT, fill: FILL },
    })
  })

  test.for<[sent: string, effects: Unplaced[], outputAmount: bigint | null]>([
    ['sent to the user as tokens', [callsFailed(USER), drained(USER, 60n)], 60n],
    ['not seen to be sent to the user', [callsFailed(USER), drained(STRANGER, 60n)], null],
  ])('has failed where the deposit failed, with what was %s', async ([, effects, outputAmount]) => {
    expect(await settleWith(...effects)).toMatchObject({
      ...{ ...endedFor('destination_action_failed'), outputAmount },
      timestamps: { bridged: arrived, completed: null },
    })
  })

  test('is never at its end while its logs prove neither', async () => {
    const status = await settleWith()
    expect(status).toMatchObject({ ...BRIDGING, nextPollAfterMs: 30_000, timestamps: { completed: null } })
  })
})

describe('A source transaction that is not mined', () => {
  const waiting: MemoryTransaction = { hash: SENT, from: USER, to: SOURCE_POOL, nonce: 5 }
  /** The chain so many seconds later. */
  const later = (seconds: bigint, more: Partial<MemoryChain>): World => ({
    source: { times: [START, START + seconds], ...more },
  })
  const isKnown = { transactions: [waiting], nonce: 5 }
  const isReplaced = { transactions: [], nonce: 6 }
  const statesAfter = async (...worlds: World[]) => {
    const states: object[] = []
    let recorded: Transfer = {}
    for (const world of worlds) {
      const polled = await poll(recorded, world)
      recorded = polled.recorded
      states.push(stateOf(polled.status))
    }
    return states
  }

  test('is dropped once the head at which another one was first seen in its place is final', async () => {
    const worlds = [later(1n, isKnown), later(10n, isReplaced), later(129n, isReplaced), later(130n, isReplaced)]
    expect(await statesAfter(...worlds)).toEqual([PENDING, PENDING, PENDING, endedFor('source_dropped')])
  })

  test('is not dropped by nodes that did not know it for a while', async () => {
    const worlds = [later(1n, isKnown), later(10n, isReplaced), later(60n, isKnown), later(130n, isReplaced)]
    expect(await statesAfter(...worlds)).toEqual([PENDING, PENDING, PENDING, PENDING])
  })

  test('is not dropped while its nonce is free, however long no node knows it', async () => {
    const forgotten = { transactions: [], nonce: 5 }
    const worlds = [later(1n, isKnown), later(10n, forgotten), later(BigInt(DAY), forgotten)]
    expect(await statesAfter(...worlds)).toEqual([PENDING, PENDING, PENDING])
  })
})

describe('The refund of a transfer that nobody filled', () => {
  /** Blocks are an hour apart, from two days before the deposit on. */
  const blockAt = (hours: number) => 48 + hours
  const timesUntil = (hours: number) =>
    Array.from({ length: blockAt(hours) + 1 }, (_, block) => START + BigInt((block - 48) * HOUR))
  const recorded: Transfer = {
    source: { deposit: DEPOSIT, initiated: toDate(START), blockNumber: BigInt(blockAt(0)), isFinal: true },
    isUnfilled: true,
  }

  type Other = {
    /** When it is made, and its deadline, in hours after this transfer. */
    readonly at: number
    readonly deadline: number
    readonly isFilled?: boolean
    readonly terms?: Partial<BridgeDeposit['relayData']>
  }
  type Paid = readonly [at: number, amount: bigint]
  const leaf = (amount: bigint) =>
    emit(SOURCE_POOL, 'ExecutedRelayerRefundRoot', {
      ...{ amountToReturn: 0n, chainId: BigInt(ARBITRUM), rootBundleId: 1, leafId: 2 },
      ...{ refundAmounts: [amount], refundAddresses: [USER], deferredRefunds: false },
      ...{ l2TokenAddress: TOKEN, caller: STRANGER },
    })

  /** The status at the hour, after these other deposits and the pool's payments to the user in the token. */
  function statusAt(hours: number, { others = [], paid = [] }: { others?: readonly Other[]; paid?: readonly Paid[] }) {
    const deposits = others.map(({ at, deadline, isFilled = false, terms }, index) => {
      const fillDeadline = Number(START) + deadline * HOUR
      return { at, isFilled, deposit: withTerms(DEPOSIT, { depositId: BigInt(index + 2), fillDeadline, ...terms }) }
    })
    const events = [
      { at: 0, log: depositLog(DEPOSIT, SOURCE_POOL) },
      ...deposits.map(({ at, deposit }) => ({ at, log: depositLog(deposit, SOURCE_POOL) })),
      ...paid.map(([at, amount]) => ({ at, log: leaf(amount) })),
    ]
    const transactions = events
      .toSorted((left, right) => left.at - right.at)
      .map(({ at, log }, index) => ({ hash: numberToHex(index + 1, { size: 32 }), block: blockAt(at), logs: [log] }))
    const filled = new Set(deposits.flatMap(({ isFilled, deposit }) => (isFilled ? [relayHash(deposit)] : [])))
    const fillStatuses = (hash: Hash) => (filled.has(hash) ? FILLED : UNFILLED)
    return settle(recorded, {
      source: { times: timesUntil(hours), transactions },
      destination: { contracts: { answers: { fillStatuses } } },
    })
  }

  const due = DEPOSIT.relayData.inputAmount
  const REFUNDED = endedFor('refunded')

  test.for<[hours: number, state: object]>([
    [3, EXPIRED],
    [2 + 14 * 24, EXPIRED],
    [3 + 14 * 24, endedFor('refund_not_found')],
  ])('is awaited until two weeks after the deadline: %i hours after the deposit', async ([hours, state]) => {
    expect(stateOf(await statusAt(hours, {}))).toEqual(state)
  })

  test.for<[paid: string, payments: readonly Paid[], state: object]>([
    ['after the deadline', [[3, due]], REFUNDED],
    [
      'in two parts',
      [
        [3, due - 1n],
        [4, 1n],
      ],
      REFUNDED,
    ],
    ['before the deadline', [[1, due]], EXPIRED],
    ['too little', [[3, due - 1n]], EXPIRED],
  ])('is what the pool paid %s', async ([, paid, state]) => {
    expect(stateOf(await statusAt(20, { paid }))).toEqual(state)
  })

  test.for<[which: string, other: Other, state: object]>([
    ['an earlier one of the same deadline comes first', { at: -1, deadline: 2 }, EXPIRED],
    ['an earlier one of an earlier deadline comes first', { at: -1, deadline: 1 }, EXPIRED],
    ['a later one of an earlier deadline comes first', { at: 1, deadline: 1.5 }, EXPIRED],
    ['one that was filled is not owed', { at: -1, deadline: 2, isFilled: true }, REFUNDED],
    ['a later one of the same deadline comes after', { at: 1, deadline: 2 }, REFUNDED],
    ['a later one of a later deadline comes after', { at: 1, deadline: 2.5 }, REFUNDED],
    ['an earlier one of a later deadline comes after', { at: -1, deadline: 2.5 }, REFUNDED],
    ['one of another token is paid in that', { at: -1, deadline: 2, terms: { inputToken: pad(POOL) } }, REFUNDED],
    ['one of another account is paid to that', { at: -1, deadline: 2, terms: { depositor: pad(STRANGER) } }, REFUNDED],
    ['one of nothing is owed nothing', { at: -1, deadline: 2, terms: { inputAmount: 0n } }, REFUNDED],
  ])('counts for the deposit that is owed first: %s', async ([, other, state]) => {
    expect(stateOf(await statusAt(20, { others: [other], paid: [[3, due]] }))).toEqual(state)
  })

  test('is there once both are paid', async () => {
    const others = [{ at: -1, deadline: 2 }]
    expect(
      stateOf(
        await statusAt(20, {
          others,
          paid: [
            [3, due],
            [4, due],
          ],
        }),
      ),
    ).toEqual(REFUNDED)
  })
})
