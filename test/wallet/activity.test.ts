import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Deposit, GetTransferStatusResponse, TransferEvent, Withdrawal } from '../../client/src/index.ts'
import {
  type FollowedTransfer,
  groupByDay,
  isOpenEntry,
  listTimelineEntries,
  type Sources,
  stepsOfTransfer,
} from '../../wallet/src/activity.ts'

const VAULT = '0xF2ea27c7b2e586B61af27223A7707356F685F718'
const ALICE = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
const place = {
  vaultAddress: VAULT,
  vaultName: 'Harbor USDC',
  userAddress: ALICE,
  chainId: 8453,
  vault: {
    apy: '6.45',
    annualYield: null,
    assetSymbol: 'USDC',
    assetDecimals: 6,
    shareDecimals: 18,
    sharePrice: '1050000',
  },
  epochId: 1,
  timestamp: '2026-11-01T00:00:00.000Z',
  transactionHash: '0xaa',
} as const

const deposit: Deposit = {
  ...place,
  depositId: '8453-0xaa-1',
  status: 'pending',
  statusDescription: '',
  amounts: { depositedAssets: '25000000', pendingDeposit: '25000000', claimableShares: '0', currentShares: '0' },
}

const withdrawal: Withdrawal = {
  ...place,
  withdrawalId: '8453-0xaa-2',
  status: 'pending',
  statusDescription: '',
  shares: '2000000000000000000',
  assets: null,
  amounts: {
    ...{ pendingShares: '2000000000000000000', claimableShares: '0', claimableAssets: '0' },
    ...{ paidShares: '0', paidAssets: '0', cancelledShares: '0' },
  },
  claimTransactionHash: null,
}

const unit = { symbol: 'USDC', decimals: 6 }
const started = {
  hash: '0xbb',
  srcChainId: 42161,
  kind: 'deposit',
  vault: { chainId: 8453, address: VAULT, name: 'Harbor USDC' },
  account: ALICE,
  amount: '26000000',
  from: unit,
  to: unit,
  startedAt: Date.parse('2026-11-01T00:00:00.000Z'),
} as const

const ON_ARBITRUM = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
const ON_BASE = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const sent = {
  ...{ kind: 'deposited', chainId: 42161, txHash: '0xbb', logIndex: 0, at: '2026-11-01T00:00:00.000Z' },
  ...{ amount: '26000000', token: ON_ARBITRUM, account: ALICE, vaultAddress: null, shares: null },
} as const satisfies TransferEvent
const filled = { ...sent, kind: 'filled', chainId: 8453, txHash: '0xaa', amount: '25000000', token: ON_BASE } as const
const bridging = {
  status: 'bridging',
  reason: null,
  action: 'deposit',
  terminal: false,
  srcChain: { id: 42161, name: 'Arbitrum One' },
  dstChain: { id: 8453, name: 'Base' },
  timestamps: { initiated: sent.at, bridged: null, completed: null },
  transactions: { source: '0xbb', fill: null },
  input: { ...unit, token: ON_ARBITRUM, amount: '26000000' },
  output: { ...unit, token: ON_BASE, amount: '25000000' },
  expectedAt: '2026-11-01T00:00:10.000Z',
  deadline: null,
  refund: null,
  events: [sent],
  // The cast is safe because the timeline reads only these fields of the response.
} as unknown as GetTransferStatusResponse
const arrived: GetTransferStatusResponse = {
  ...bridging,
  status: 'completed',
  terminal: true,
  timestamps: { initiated: sent.at, bridged: sent.at, completed: sent.at },
  transactions: { source: '0xbb', fill: '0xaa' },
  events: [sent, filled, { ...filled, kind: 'vault_deposited', logIndex: 1 }],
}

const timeline = (sources: { [Name in keyof Sources]?: Sources[Name] | undefined }) =>
  listTimelineEntries({
    deposits: sources.deposits ?? { items: [], hasMore: false },
    withdrawals: sources.withdrawals ?? { items: [], hasMore: false },
    transfers: sources.transfers ?? [],
    reported: sources.reported ?? new Map(),
  })
const ofDeposit = (changed: Partial<Deposit>, more: Parameters<typeof timeline>[0] = {}) =>
  timeline({ ...more, deposits: { items: [{ ...deposit, ...changed }], hasMore: false } })
const ofWithdrawal = (changed: Partial<Withdrawal>, more: Parameters<typeof timeline>[0] = {}) =>
  timeline({ ...more, withdrawals: { items: [{ ...withdrawal, ...changed }], hasMore: false } })
const textsOf = (steps: readonly { text: string; state: string }[] | undefined) =>
  steps?.map(({ text, state }) => `${text}: ${state}`)

describe('A deposit', () => {
  test('that settles is requested, settled and claimed, with the time and transaction that its events report', () => {
    expect(textsOf(ofDeposit({})[0]?.steps)).toEqual(['Requested: done', 'Waiting for the vault: now', 'Claim: todo'])
    expect(textsOf(ofDeposit({ status: 'claimable' })[0]?.steps)).toEqual([
      'Requested: done',
      'Settled: done',
      'Ready to claim: now',
    ])
    const settled = { at: '2026-11-02T00:00:00.000Z', hash: '0xcc' } as const
    const [entry] = ofDeposit({ status: 'completed' }, { reported: new Map([['8453-0xaa-1', { claimable: settled }]]) })
    expect(entry?.steps).toMatchObject([{ text: 'Requested' }, { text: 'Settled', ...settled }, { text: 'Claimed' }])
    expect(entry?.state).toBeUndefined()
  })

  test('that is instant has one step', () => {
    const [entry] = ofDeposit({ epochId: 0, status: 'completed' })
    expect(textsOf(entry?.steps)).toEqual(['Deposited: done'])
  })

  test('that was cancelled has a cancelled step', () => {
    expect(textsOf(ofDeposit({ status: 'cancelled' })[0]?.steps)).toEqual(['Requested: done', 'Cancelled: done'])
  })

  test('from another chain is one entry from the first step to the last', () => {
    const followed = (progress: GetTransferStatusResponse | undefined) => [{ started, progress }]
    const [early, ...others] = timeline({ transfers: followed(bridging) })
    expect(others).toEqual([])
    expect(early).toMatchObject({ id: '0xbb', assets: 25_000_000n, state: { text: 'On its way' }, otherChainId: 42161 })
    expect(textsOf(early?.steps)).toEqual(['Sent: done', 'Arriving: now', 'Deposit: todo'])

    const late = ofDeposit({ epochId: 0, status: 'completed' }, { transfers: followed(arrived) })
    expect(late).toHaveLength(1)
    expect(late[0]).toMatchObject({ id: '0xbb', assets: 25_000_000n, state: undefined, otherChainId: 42161 })
    expect(textsOf(late[0]?.steps)).toEqual(['Sent: done', 'Arrived: done', 'Deposited: done'])
  })

  test('from another chain that another browser sent starts with the source transaction', () => {
    const source = { chainId: 42161, transactionHash: '0xbb' } as const
    const [entry] = ofDeposit({ source, epochId: 0, status: 'completed' })
    expect(entry?.steps).toMatchObject([{ text: 'Sent', chainId: 42161, hash: '0xbb' }, { text: 'Arrived' }, {}])
  })

  test('is not confused with one for another account or vault in the same transaction', () => {
    const elsewhere = { ...started, vault: { ...started.vault, address: ALICE } } as const
    const transfers = [{ started: elsewhere, progress: arrived }]
    expect(ofDeposit({ epochId: 0 }, { transfers })).toHaveLength(2)
  })
})

describe('A withdrawal', () => {
  test('shows an estimate until its settlement, without the unit that vaults keep', () => {
    expect(ofWithdrawal({})[0]).toMatchObject({ assets: null, estimate: 2_099_999n })
    expect(ofWithdrawal({ assets: '2050000' })[0]?.assets).toBe(2_050_000n)
  })

  test('that was paid immediately has one transaction, and a claimed one has two', () => {
    const paid = { status: 'completed', assets: '1', claimTransactionHash: '0xaa' } as const
    expect(textsOf(ofWithdrawal(paid)[0]?.steps)).toEqual(['Withdrawn: done'])
    const [claimed] = ofWithdrawal({ ...paid, claimTransactionHash: '0xcc' })
    expect(claimed?.steps.map(({ text, hash }) => [text, hash])).toEqual([
      ['Requested', '0xaa'],
      ['Settled', undefined],
      ['Paid', '0xcc'],
    ])
  })

  test('that goes on to another chain is one entry until it has arrived', () => {
    const paid = { status: 'completed', assets: '26000000', claimTransactionHash: '0xaa' } as const
    const onward = { ...started, kind: 'withdrawal', srcChainId: 8453, withdrawalHash: '0xaa' } as const
    const progress = { ...bridging, action: null, dstChain: { id: 42161, name: 'Arbitrum One' } }
    const entries = ofWithdrawal(paid, { transfers: [{ started: onward, progress }] })
    expect(entries).toHaveLength(1)
    expect(entries[0]).toMatchObject({ status: 'pending', state: { text: 'On its way' }, otherChainId: 42161 })
    expect(textsOf(entries[0]?.steps)).toEqual(['Withdrawn: done', 'Sent: done', 'Arriving: now'])
    const over = ofWithdrawal(paid, { transfers: [{ started: { ...onward, isClosed: true }, progress: undefined }] })
    expect(over).toMatchObject([{ status: 'completed', state: undefined }])
  })

  test('that is sent on without a known withdrawal is its own entry', () => {
    const onward = { ...started, kind: 'withdrawal', srcChainId: 8453 } as const
    expect(ofWithdrawal({}, { transfers: [{ started: onward, progress: bridging }] })).toHaveLength(2)
  })
})

describe('A transfer', () => {
  const sentFrom = { srcChainId: 42161, hash: '0xbb', now: 0 } as const

  test('is shown as arriving while it is under way, and as arrived afterwards', () => {
    expect(textsOf(stepsOfTransfer(undefined, sentFrom))).toEqual(['Sending: now'])
    expect(textsOf(stepsOfTransfer(bridging, sentFrom))).toContain('Arriving: now')
    const steps = textsOf(stepsOfTransfer(arrived, sentFrom))
    expect(steps).toEqual(['Sent: done', 'Arrived: done', 'Deposited: done'])
  })

  test('that only arrives has one step for its arrival', () => {
    const delivered = { ...filled, kind: 'delivered', logIndex: 1 } as const
    const plain = { ...arrived, action: null, events: [sent, filled, delivered] }
    expect(textsOf(stepsOfTransfer(plain, sentFrom))).toEqual(['Sent: done', 'Arrived: done'])
    const elsewhere = { ...delivered, txHash: '0xdd' } as const
    expect(textsOf(stepsOfTransfer({ ...plain, events: [sent, filled, elsewhere] }, sentFrom))).toContain(
      'Received: done',
    )
  })

  test('that failed stays open until the refund arrived', () => {
    const expired = { ...bridging, status: 'failed', reason: 'expired' } as const
    const [open] = timeline({ transfers: [{ started, progress: expired }] })
    expect(open).toMatchObject({ status: 'pending', state: { text: 'Being refunded' } })
    expect(textsOf(open?.steps)).toEqual(['Sent: done', 'Refunding: now'])
    const refunded = { ...expired, reason: 'refunded', terminal: true } as const
    expect(timeline({ transfers: [{ started, progress: refunded }] })).toMatchObject([
      { status: 'cancelled', state: { text: 'Refunded' } },
    ])
  })
})

describe('The timeline', () => {
  const time = (minute: number) => new Date(Date.UTC(2026, 10, 1) + minute * 60_000).toISOString()
  const hash = (index: number) => `0x${index.toString(16).padStart(4, '0')}` as const
  /** Generates deposits and withdrawals, newest first, some with a cross-chain transfer. */
  const histories = fc
    .array(
      fc.record({
        minute: fc.integer({ min: 0, max: 300 }),
        kind: fc.constantFrom('deposit', 'withdrawal'),
        status: fc.constantFrom('pending', 'completed'),
        hasTransfer: fc.boolean(),
      }),
      { maxLength: 40 },
    )
    .map((all) => all.toSorted((left, right) => right.minute - left.minute).map((one, index) => ({ ...one, index })))
    .map((all) => {
      const of = (wanted: string) => all.filter(({ kind }) => kind === wanted)
      const transfers = all
        .filter(({ hasTransfer }) => hasTransfer)
        .map(({ index, kind, minute }): FollowedTransfer => {
          const links = kind === 'deposit' ? {} : ({ kind, withdrawalHash: hash(index) } as const)
          const own = { ...started, hash: hash(index + 1000), startedAt: Date.parse(time(minute)), ...links }
          const timestamps = { ...arrived.timestamps, initiated: time(minute) }
          return {
            started: own,
            progress: { ...arrived, timestamps, transactions: { source: own.hash, fill: hash(index) } },
          }
        })
      const common = ({ index, minute }: { index: number; minute: number }) => ({
        ...{ timestamp: time(minute), transactionHash: hash(index) },
      })
      return {
        deposits: of('deposit').map((one) => ({
          ...{ ...deposit, ...common(one), status: one.status, depositId: `d${one.index}` },
        })),
        withdrawals: of('withdrawal').map((one) => ({
          ...{ ...withdrawal, ...common(one), status: one.status, withdrawalId: `w${one.index}` },
        })),
        transfers,
        count: all.length,
      }
    })
  const load = <Item>(items: readonly Item[], count: number) => ({
    ...{ items: items.slice(0, count), hasMore: count < items.length },
  })

  test('has each deposit, withdrawal and transfer once, newest first', () => {
    const isComplete = fc.property(histories, ({ deposits, withdrawals, transfers, count }) => {
      const entries = timeline({ deposits: load(deposits, 99), withdrawals: load(withdrawals, 99), transfers })
      expect(entries).toHaveLength(count)
      expect(new Set(entries.map(({ id }) => id)).size).toBe(count)
      const times = entries.map(({ timestamp }) => timestamp)
      expect(times).toEqual(times.toSorted().toReversed())
      expect(entries.filter(({ transfer }) => transfer)).toHaveLength(transfers.length)
    })
    fc.assert(isComplete)
  })

  test('grows only at its end with each page: closed entries keep their places', () => {
    const pages = fc.integer({ min: 1, max: 20 })
    const isPrefix = fc.property(histories, pages, pages, (all, first, second) => {
      const whole = timeline({ ...all, deposits: load(all.deposits, 99), withdrawals: load(all.withdrawals, 99) })
      // The partly loaded timeline gets no cross-chain transfers. A transfer would appear although the page with its
      // deposit is not loaded yet.
      const part = timeline({
        deposits: load(all.deposits, first),
        withdrawals: load(all.withdrawals, second),
        transfers: [],
      })
      const key = (entry: { steps: readonly { hash?: string | undefined }[] }) => entry.steps.at(0)?.hash
      const closed = part.filter((entry) => !isOpenEntry(entry)).map(({ timestamp }) => timestamp)
      const expected = whole.filter((entry) => !isOpenEntry(entry)).map(({ timestamp }) => timestamp)
      expect(closed).toEqual(expected.slice(0, closed.length))
      expect(new Set(part.map(key)).size).toBe(part.length)
    })
    fc.assert(isPrefix)
  })

  test('ends at the last loaded entry of each list, but always shows open entries', () => {
    const at = (minute: number, status: Deposit['status'] = 'completed') => ({
      ...{ ...deposit, depositId: `d${minute}`, timestamp: time(minute), status },
    })
    const entries = timeline({
      deposits: { items: [at(9), at(5)], hasMore: true },
      withdrawals: { items: [{ ...withdrawal, timestamp: time(3) }], hasMore: false },
    })
    expect(entries.map(({ timestamp, status }) => [timestamp, status])).toEqual([
      [time(9), 'completed'],
      [time(5), 'completed'],
      [time(3), 'pending'],
    ])
  })

  test('is grouped by days of the reader’s time zone', () => {
    const now = new Date(2026, 10, 27, 12).getTime()
    const on = (day: number, year = 2026) => ({
      ...{ ...deposit, depositId: `d${year}-${day}`, timestamp: new Date(year, 10, day, 9).toISOString() },
    })
    const items = [on(27), on(26), on(3), on(3, 2025)]
    const groups = groupByDay(timeline({ deposits: { items, hasMore: false } }), now)
    expect(groups.map(({ day }) => day)).toEqual(['Today', 'Yesterday', 'Nov 3', 'Nov 3, 2025'])
  })
})
