import { isDeepStrictEqual } from 'node:util'
import { type Address, getAddress, type Hash, type Hex, numberToHex, pad, zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { hashRelay } from '../../../lib/bridge/events.ts'
import { readTransfer, readTransfersByHash, type TransferServices } from '../../../lib/bridge/status.ts'
import { describeTransfer } from '../../../lib/bridge/timeline.ts'
import type {
  BridgeDeposit,
  RecordedTransfer,
  SourceHashRecord,
  Transfer,
  TransferStatus,
} from '../../../lib/bridge/transfer.ts'
import { requireValue } from '../../../lib/chain/call.ts'
import { sum } from '../../../lib/core/bigint.ts'
import { HOUR, toDate } from '../../../lib/core/time.ts'
import {
  buildCallsFailedLog,
  buildDepositRequestLog,
  buildDrainedLog,
  buildEventLog,
  buildVaultBridgeDeposit,
  depositLog,
  fillLog,
  POOL,
  TOKEN,
  type UnindexedLog,
} from '../../support/bridge-events.ts'
import { createMemoryChainReader, type MemoryChain, type MemoryTransaction } from '../../support/chain-in-memory.ts'
import { ARBITRUM, BASE, encodeCall, POOLS } from '../../support/oracles.ts'

const [USER, VAULT, STRANGER] = ['0xa1', '0xc3', '0xd4'].map((byte) => getAddress(pad(byte as Hex, { size: 20 }))) as [
  Address,
  Address,
  Address,
]
const [SENT, FILL, OTHER] = [1, 2, 3].map((byte) => numberToHex(byte, { size: 32 })) as [Hash, Hash, Hash]
const SOURCE_POOL = POOLS[ARBITRUM] as Address
const START = 1_800_000_000n
const DEADLINE = START + 2n * BigInt(HOUR)
const [UNFILLED, SLOW_FILL_REQUESTED, FILLED] = [0n, 1n, 2n]

const withTerms = (deposit: BridgeDeposit, terms: Partial<BridgeDeposit['relayData']>): BridgeDeposit => ({
  ...deposit,
  relayData: { ...deposit.relayData, ...terms },
})
const DEPOSIT = withTerms(buildVaultBridgeDeposit({ user: USER, vault: VAULT, id: 1n, amount: 100n }), {
  fillDeadline: Number(DEADLINE),
})
const keyOf = (deposit: BridgeDeposit) => ({
  ...{ sourceChainId: ARBITRUM, depositor: USER, relayHash: hashRelay(deposit) },
})
const recordOf = (deposit: BridgeDeposit, block: number): Transfer => {
  const { inputAmount: amount } = deposit.relayData
  const place = { chainId: ARBITRUM, txHash: SENT, logIndex: 0, at: toDate(START) }
  const what = { amount, token: TOKEN, account: USER, vaultAddress: null, shares: null }
  const events: Transfer['events'] = [{ kind: 'deposited', ...place, ...what }]
  return { deposit, events, blockNumber: BigInt(block), isFinal: true }
}
const BRIDGED = recordOf(DEPOSIT, 1)

type World = {
  readonly source?: Partial<MemoryChain>
  readonly destination?: Partial<MemoryChain>
  readonly hint?: Awaited<ReturnType<TransferServices['fetchHint']>>
}

type Records = { readonly transfers: Map<Hash, RecordedTransfer>; readonly sent: Map<Hash, SourceHashRecord> }
const createEmptyRecords = (): Records => ({ transfers: new Map(), sent: new Map() })

function servicesIn({ source, destination, hint = {} }: World, { transfers, sent }: Records) {
  const methods: string[] = []
  const readers = new Map(
    [
      createMemoryChainReader({ id: ARBITRUM, times: [START], ...source }),
      createMemoryChainReader({ id: BASE, times: [START], ...destination }),
    ].map((reader) => {
      const request: typeof reader.request = (requests, ...options) => {
        methods.push(...requests.map(({ method }) => method))
        return reader.request(requests, ...options)
      }
      return [reader.chain.id, { ...reader, request }]
    }),
  )
  const services: TransferServices = {
    getReader: (chainId) => requireValue(readers.get(chainId)),
    fetchHint: async () => hint,
    transfers: {
      getMany: async (keys) => keys.flatMap((key) => transfers.get(key.relayHash) ?? []),
      getSent: async ({ hash }) => sent.get(hash),
      recordSent: async ({ hash }, record) => void sent.set(hash, record),
      forgetSent: async ({ hash }) => void sent.delete(hash),
      async record(key, recorded) {
        transfers.set(key.relayHash, { key, recorded })
        return true
      },
      follow: async () => true,
      forget: async (key) => void transfers.delete(key.relayHash),
    },
    quotes: { getMany: async () => [] },
    depositSources: { record: async () => {} },
  }
  return { services, methods }
}

async function poll(recorded: Transfer, world: World) {
  const records = createEmptyRecords()
  const { services, methods } = servicesIn(world, records)
  const key = keyOf(recorded.deposit)
  const { keep, outcome, isFinal } = requireValue(await readTransfer(services, { key, recorded }, () => undefined))
  const stored = records.transfers.get(key.relayHash)?.recorded ?? recorded
  return { status: describeTransfer(keep, outcome, isFinal), recorded: stored, methods }
}

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
const filledWith = (effects: readonly UnindexedLog[]): MemoryTransaction[] => [
  { hash: FILL, block: 1, logs: [fillLog(DEPOSIT, { amount: 90n }), ...effects] },
]

describe('A transfer that the pool does not report as filled', () => {
  test.for<[seconds: number, state: object]>([
    [-1, BRIDGING],
    [0, BRIDGING],
    [1, EXPIRED],
  ])('can be filled until its deadline by the destination’s clock: %i s after it', async ([seconds, state]) => {
    const destination = { times: [START, DEADLINE + BigInt(seconds)], contracts: poolSays(UNFILLED) }
    expect(stateOf((await poll(BRIDGED, { destination })).status)).toEqual(state)
  })

  test('is bridging while a slow fill is requested', async () => {
    const destination = { times: [START, START + 1n], contracts: poolSays(SLOW_FILL_REQUESTED) }
    const { status } = await poll(BRIDGED, { destination })
    expect(status).toMatchObject({ ...BRIDGING, nextPollAfterMs: 60_000 })
  })

  test.for<[after: string, seconds: bigint, says: readonly [bigint, ...bigint[]]]>([
    ['a lagging node did not know of it', 600n, [UNFILLED, FILLED]],
    ['it expired in a block that is not final', 1n, [UNFILLED, UNFILLED, FILLED]],
  ])('is found filled after %s', async ([, seconds, says]) => {
    const destination = {
      times: [START, DEADLINE, DEADLINE + seconds],
      contracts: poolSays(...says),
      transactions: filledWith([buildDepositRequestLog(USER, VAULT, 90n)]),
    }
    const first = await poll(BRIDGED, { destination })
    expect(stateOf(first.status)).toEqual(EXPIRED)
    expect(await settle(first.recorded, { destination })).toMatchObject({ status: 'completed', outputAmount: 90n })
  })
})

describe('A transfer that is filled', () => {
  const times = [START, START + 60n, START + BigInt(HOUR)]
  const arrived = toDate(START + 60n)
  const settleWith = (...effects: UnindexedLog[]) =>
    settle(BRIDGED, { destination: { times, contracts: poolSays(FILLED), transactions: filledWith(effects) } })

  test('is completed with the delivered amount once the vault takes it', async () => {
    expect(await settleWith(buildDepositRequestLog(USER, VAULT, 90n))).toMatchObject({
      ...{ status: 'completed', reason: null, terminal: true, final: true, outputAmount: 90n },
      timestamps: { initiated: toDate(START), bridged: arrived, completed: arrived },
      transactions: { source: SENT, fill: FILL },
    })
  })

  test.for<[sent: string, effects: UnindexedLog[], outputAmount: bigint | null]>([
    ['sent to the user as tokens', [buildCallsFailedLog(USER), buildDrainedLog(USER, 60n)], 60n],
    ['not seen to be sent to the user', [buildCallsFailedLog(USER), buildDrainedLog(STRANGER, 60n)], null],
  ])('has failed if the deposit failed, with the amount %s', async ([, effects, outputAmount]) => {
    expect(await settleWith(...effects)).toMatchObject({
      ...{ ...endedFor('destination_action_failed'), outputAmount },
      timestamps: { bridged: arrived, completed: null },
    })
  })

  test('is not terminal while its logs prove neither', async () => {
    const status = await settleWith()
    expect(status).toMatchObject({ ...BRIDGING, nextPollAfterMs: 30_000, timestamps: { completed: null } })
  })
})

describe('A hint for the fill', () => {
  const times = [START, START + 60n, START + BigInt(HOUR)]
  const effects = [buildDepositRequestLog(USER, VAULT, 90n)]
  const worldOf = (hint: World['hint'], transactions: readonly MemoryTransaction[]): World => ({
    destination: { times, contracts: poolSays(FILLED), transactions },
    ...(hint && { hint }),
  })

  test('saves the search', async () => {
    const { status, methods } = await poll(BRIDGED, worldOf({ fill: FILL }, filledWith(effects)))
    expect(status).toMatchObject({ status: 'completed', transactions: { fill: FILL } })
    expect(methods).not.toContain('eth_getLogs')
  })

  test.for<[wrong: string, logs: readonly UnindexedLog[] | undefined]>([
    ['no transaction', undefined],
    ['a transaction without a fill', effects],
    ['the fill of another deposit', [fillLog(withTerms(DEPOSIT, { depositId: 9n })), ...effects]],
    ['the fill by another contract', [fillLog(DEPOSIT, { pool: SOURCE_POOL }), ...effects]],
  ])('is ignored if it names %s', async ([, logs]) => {
    const others: MemoryTransaction[] = logs ? [{ hash: OTHER, block: 1, logs }] : []
    const { status } = await poll(BRIDGED, worldOf({ fill: OTHER }, [...others, ...filledWith(effects)]))
    expect(status).toMatchObject({ status: 'completed', transactions: { fill: FILL } })
  })
})

describe('A source transaction that is not mined', () => {
  const { relayData, destinationChainId, quoteTimestamp } = DEPOSIT
  const BUFFER = BigInt(HOUR)
  const QUOTED = { ...DEPOSIT, quoteTimestamp: Number(START) }
  const calldata = encodeCall('depositV3', [
    ...[USER, getAddress(`0x${relayData.recipient.slice(-40)}`), TOKEN, TOKEN],
    ...[relayData.inputAmount, relayData.outputAmount, BigInt(destinationChainId), zeroAddress],
    ...[QUOTED.quoteTimestamp, relayData.fillDeadline, 0, relayData.message],
  ])
  const waiting: MemoryTransaction = { hash: SENT, from: USER, to: SOURCE_POOL, nonce: 5, input: calldata }
  const contracts = { answers: { depositQuoteTimeBuffer: Number(BUFFER) } }
  /**
   * Builds a source chain whose first block has the time START. The newest block is `seconds` later. The block with the
   * finality tag is 200 seconds older than the newest one.
   */
  const buildLaterWorld = (seconds: bigint, more: Partial<MemoryChain>): World => {
    const last = START + seconds
    return { source: { times: [START, last - 200n, last - 50n, last], tagLag: 2, contracts, ...more } }
  }
  const isKnown = { transactions: [waiting], nonce: () => 5 }
  const isForgotten = { transactions: [], nonce: () => 5 }
  const isReplaced = { transactions: [], nonce: () => 6 }
  const carriedBy = (deposit: BridgeDeposit, transaction: Partial<MemoryTransaction> = {}) => ({
    transactions: [
      {
        hash: OTHER,
        from: USER,
        to: SOURCE_POOL,
        nonce: 5,
        input: calldata,
        block: 1,
        logs: [depositLog(deposit, SOURCE_POOL)],
        ...transaction,
      },
    ],
    nonce: () => 6,
  })
  const statusesAfter = async (...worlds: World[]) => {
    const statuses: TransferStatus[] = []
    const records = createEmptyRecords()
    for (const world of worlds) {
      const question = { sourceChainId: ARBITRUM, hash: SENT, index: 0 }
      const read = await readTransfersByHash(servicesIn(world, records).services, question, () => undefined)
      statuses.push(read.statuses[0])
    }
    return statuses
  }
  const statesAfter = async (...worlds: World[]) => (await statusesAfter(...worlds)).map(stateOf)
  const knownWorld = buildLaterWorld(300n, isKnown)

  test('is dropped once its nonce is used in a final block and no deposit has its terms', async () => {
    const dropped = endedFor('source_dropped')
    expect(await statesAfter(knownWorld, buildLaterWorld(400n, isReplaced))).toEqual([PENDING, dropped])
    // A final status stays, although the lost transaction appears again.
    expect(await statesAfter(knownWorld, buildLaterWorld(400n, isReplaced), buildLaterWorld(500n, isKnown))).toEqual([
      PENDING,
      dropped,
      dropped,
    ])
  })

  test('is dropped once its quote is a day old at a final block, even if its nonce is free', async () => {
    const [exactly, after] = [
      buildLaterWorld(24n * BUFFER + 200n, isForgotten),
      buildLaterWorld(24n * BUFFER + 201n, isForgotten),
    ]
    expect(await statesAfter(knownWorld, exactly, after)).toEqual([PENDING, PENDING, endedFor('source_dropped')])
  })

  test('is not dropped by a nonce used only in blocks that are not final', async () => {
    const isReplacedLately = { transactions: [], nonce: (block: number) => (block >= 2 ? 6 : 5) }
    expect(await statesAfter(knownWorld, buildLaterWorld(400n, isReplacedLately))).toEqual([PENDING, PENDING])
    // The block with the finality tag is too young to be final, so the user's nonce at that block does not count.
    expect(await statesAfter(knownWorld, buildLaterWorld(400n, { ...isReplaced, tagLag: 1 }))).toEqual([
      PENDING,
      PENDING,
    ])
  })

  test('is not dropped if nodes did not know it for a while', async () => {
    expect(await statesAfter(knownWorld, buildLaterWorld(400n, isForgotten), buildLaterWorld(500n, isKnown))).toEqual([
      PENDING,
      PENDING,
      PENDING,
    ])
  })

  test('is not dropped while its nonce is free and its quote is valid, even if no node knows it', async () => {
    const worlds = [
      buildLaterWorld(400n, isForgotten),
      buildLaterWorld(2_000n, isForgotten),
      buildLaterWorld(BUFFER, isForgotten),
    ]
    expect(await statesAfter(knownWorld, ...worlds)).toEqual([PENDING, PENDING, PENDING, PENDING])
  })

  test('is not dropped if another transaction made its deposit, and names that transaction', async () => {
    for (const worlds of [
      [buildLaterWorld(400n, carriedBy(QUOTED))],
      [buildLaterWorld(400n, carriedBy(QUOTED)), buildLaterWorld(900n, carriedBy(QUOTED))],
    ]) {
      const statuses = await statusesAfter(knownWorld, ...worlds)
      expect(statuses.at(-1)).toMatchObject({
        ...{ ...BRIDGING, depositId: SENT, replacedBy: OTHER, depositor: USER, inputAmount: 105n },
        transactions: { source: OTHER },
        events: [{ kind: 'deposited', txHash: OTHER, account: USER }],
      })
    }
  })

  test.for<[name: string, deposit: BridgeDeposit]>([
    ['of another amount', withTerms(QUOTED, { inputAmount: 106n })],
    ['for another recipient', withTerms(QUOTED, { recipient: pad(STRANGER) })],
    ['by another quote', { ...QUOTED, quoteTimestamp: quoteTimestamp + 1 }],
    ['of another depositor', withTerms(QUOTED, { depositor: pad(STRANGER) })],
  ])('is dropped even if another deposit %s was made', async ([, deposit]) => {
    expect(await statesAfter(knownWorld, buildLaterWorld(400n, carriedBy(deposit)))).toEqual([
      PENDING,
      endedFor('source_dropped'),
    ])
  })

  test('removes a recorded transfer once its deposit is gone and another one has its terms', async () => {
    const records = createEmptyRecords()
    const again = withTerms(QUOTED, { depositId: 9n })
    const recorded = { ...recordOf(QUOTED, 1), isFinal: false }
    const transfer = { key: keyOf(QUOTED), recorded }
    records.transfers.set(transfer.key.relayHash, transfer)
    const early = servicesIn(buildLaterWorld(400n, carriedBy(again)), records).services
    const reading = await readTransfer(early, transfer, () => undefined)
    expect(reading?.outcome).toBe('bridging')
    const stored = { ...transfer, recorded: reading?.keep ?? recorded }
    const late = servicesIn(buildLaterWorld(BUFFER + 201n, carriedBy(again)), records).services
    expect(await readTransfer(late, stored, () => undefined)).toBeUndefined()
    expect(records.transfers.has(transfer.key.relayHash)).toBe(false)
  })
})

describe('The refund of an unfilled transfer', () => {
  /**
   * Returns the number of the block `hours` after the deposit. The chain has one block per hour and starts 48 hours
   * before the deposit.
   */
  const blockAt = (hours: number) => 48 + hours
  const timesUntil = (hours: number) =>
    Array.from({ length: blockAt(hours) + 1 }, (_, block) => START + BigInt((block - 48) * HOUR))
  const OWN = withTerms(DEPOSIT, { inputAmount: 1_000_000_000_000n })
  const recorded = { ...recordOf(OWN, blockAt(0)), isUnfilled: true }

  type Other = {
    /** Times of the other deposit and of its fill deadline, in hours after the tested deposit. */
    readonly at: number
    readonly deadline: number
    readonly isFilled?: boolean
    readonly terms?: Partial<BridgeDeposit['relayData']>
  }
  type Paid = readonly [at: number, amount: bigint]
  const leaf = (amount: bigint) =>
    buildEventLog(SOURCE_POOL, 'ExecutedRelayerRefundRoot', {
      ...{ amountToReturn: 0n, chainId: BigInt(ARBITRUM), rootBundleId: 1, leafId: 2 },
      ...{ refundAmounts: [amount], refundAddresses: [USER], deferredRefunds: false },
      ...{ l2TokenAddress: TOKEN, caller: STRANGER },
    })

  function statusAt(hours: number, { others = [], paid = [] }: { others?: readonly Other[]; paid?: readonly Paid[] }) {
    const deposits = others.map(({ at, deadline, isFilled = false, terms }, index) => {
      const fillDeadline = Number(START) + deadline * HOUR
      return { at, isFilled, deposit: withTerms(OWN, { depositId: BigInt(index + 2), fillDeadline, ...terms }) }
    })
    const events = [
      { at: 0, log: depositLog(OWN, SOURCE_POOL) },
      ...deposits.map(({ at, deposit }) => ({ at, log: depositLog(deposit, SOURCE_POOL) })),
      ...paid.map(([at, amount]) => ({ at, log: leaf(amount) })),
    ]
    const transactions = events
      .toSorted((left, right) => left.at - right.at)
      .map(({ at, log }, index) => ({ hash: numberToHex(index + 1, { size: 32 }), block: blockAt(at), logs: [log] }))
    const filled = new Set(deposits.flatMap(({ isFilled, deposit }) => (isFilled ? [hashRelay(deposit)] : [])))
    const fillStatuses = (hash: Hash) => (filled.has(hash) ? FILLED : UNFILLED)
    return settle(recorded, {
      source: { times: timesUntil(hours), transactions },
      destination: { contracts: { answers: { fillStatuses } } },
    })
  }

  const due = OWN.relayData.inputAmount
  const REFUNDED = endedFor('refunded')

  test.for<[hours: number, state: object]>([
    [3, EXPIRED],
    // The newest block is two weeks later than the fill deadline, but the last final block is not yet.
    [2 + 14 * 24, EXPIRED],
    [7 + 14 * 24, endedFor('refund_not_found')],
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
  ])('is recognised from the pool’s payment: %s', async ([, paid, state]) => {
    expect(stateOf(await statusAt(20, { paid }))).toEqual(state)
  })

  test.for<[which: string, other: Other, state: object]>([
    ['an earlier one of the same amount', { at: -1, deadline: 2 }, EXPIRED],
    ['an earlier one of an earlier deadline', { at: -1, deadline: 1 }, EXPIRED],
    ['a later one of the same amount', { at: 1, deadline: 2 }, EXPIRED],
    ['a later one of a later deadline', { at: 1, deadline: 2.5 }, EXPIRED],
    ['one that is due after the payment', { at: 1, deadline: 4 }, REFUNDED],
    ['one of another amount', { at: -1, deadline: 2, terms: { inputAmount: due / 2n } }, REFUNDED],
    ['one that was filled', { at: -1, deadline: 2, isFilled: true }, REFUNDED],
    ['one of another token', { at: -1, deadline: 2, terms: { inputToken: pad(POOL) } }, REFUNDED],
    ['one of another account', { at: -1, deadline: 2, terms: { depositor: pad(STRANGER) } }, REFUNDED],
    ['one of nothing', { at: -1, deadline: 2, terms: { inputAmount: 0n } }, REFUNDED],
  ])('is certain only if no other deposit can explain the payment: %s', async ([, other, state]) => {
    expect(stateOf(await statusAt(20, { others: [other], paid: [[3, due]] }))).toEqual(state)
  })

  test('is certain despite 21 debts of dust in the depositor’s name, paid or not', async () => {
    // Amounts are powers of two, so that every subset has a different sum.
    const dust = Array.from({ length: 21 }, (_, index) => 2n ** BigInt(index))
    const others = dust.map((inputAmount) => ({ at: 0, deadline: 2, terms: { inputAmount } }))
    for (const amount of [due, due + sum(dust), due + 5n]) {
      const status = await statusAt(20, { others, paid: [[3, amount]] })
      expect(stateOf(status)).toEqual(REFUNDED)
      expect(status.refund).toMatchObject({ amount: due, at: toDate(START + 3n * BigInt(HOUR)), claim: null })
    }
    expect(stateOf(await statusAt(20, { others, paid: [[3, sum(dust)]] }))).toEqual(EXPIRED)
  })

  test('is certain once both debts are paid', async () => {
    const paid: readonly Paid[] = [
      [3, due],
      [4, due],
    ]
    expect(stateOf(await statusAt(20, { others: [{ at: -1, deadline: 2 }], paid }))).toEqual(REFUNDED)
  })

  test('stays undecided if it may have been paid two weeks later', async () => {
    const status = await statusAt(7 + 14 * 24, { others: [{ at: -1, deadline: 2 }], paid: [[3, due]] })
    expect(stateOf(status)).toEqual(endedFor('expired'))
  })
})
