import { type Address, encodeAbiParameters, encodeFunctionData, getAddress, type Hash, numberToHex, pad } from 'viem'
import { describe, expect, test } from 'vitest'
import { poolAbi } from '../../../lib/bridge/abi.ts'
import { pickTerms } from '../../../lib/bridge/events.ts'
import type { Quote } from '../../../lib/bridge/quote.ts'
import { buildEmptyStatus, deriveOutcome, describeTransfer, STATUS_BY_OUTCOME } from '../../../lib/bridge/timeline.ts'
import {
  type BridgeDeposit,
  Outcome,
  type Transfer,
  TransferEvent,
  TransferStatus,
} from '../../../lib/bridge/transfer.ts'
import { toDate } from '../../../lib/core/time.ts'
import { buildMessageDeposit, buildVaultBridgeDeposit } from '../../support/bridge-events.ts'
import { ARBITRUM, BASE, HANDLER, MESSAGE_PARAMETERS, POOLS } from '../../support/oracles.ts'

const [USER, OTHER, VAULT, OTHER_VAULT] = ['0xa1', '0xb2', '0xc3', '0xd4'].map((byte) =>
  getAddress(pad(byte as Address, { size: 20 })),
) as [Address, Address, Address, Address]
const SOURCE_TOKEN = getAddress('0xaf88d065e77c8cC2239327C5EDb3A432268e5831')
const TOKEN = getAddress('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')
const [SENT, FILL, REFUND] = [1, 2, 3].map((byte) => numberToHex(byte, { size: 32 })) as [Hash, Hash, Hash]
const [SENT_AT, FILLED_AT, REFUNDED_AT] = [1_800_000_000n, 1_800_000_060n, 1_800_009_000n].map(toDate) as [
  Date,
  Date,
  Date,
]

const ofSource = ({ relayData, ...deposit }: BridgeDeposit): BridgeDeposit => ({
  ...deposit,
  relayData: { ...relayData, inputToken: pad(SOURCE_TOKEN) },
})
const INTO_VAULT = ofSource(buildVaultBridgeDeposit({ user: USER, vault: VAULT, id: 1n, amount: 100n }))
const toAccount = (recipient: Address): BridgeDeposit => {
  const { relayData, ...deposit } = ofSource(buildMessageDeposit({ user: USER, id: 1n, amount: 100n, message: '0x' }))
  return { ...deposit, relayData: { ...relayData, recipient: pad(recipient) } }
}

type Kind = TransferEvent['kind']
type Change = Partial<TransferEvent>

const none = { amount: null, token: null, account: null, vaultAddress: null, shares: null }
const onSource = { chainId: ARBITRUM, token: SOURCE_TOKEN, amount: 105n, account: USER }
const there = { chainId: BASE, txHash: FILL, logIndex: 4, at: FILLED_AT, token: TOKEN, amount: 100n }
const deposited: TransferEvent = { ...none, kind: 'deposited', ...onSource, txHash: SENT, logIndex: 3, at: SENT_AT }
const event = (kind: Kind, change: Change = {}): TransferEvent => ({ ...none, ...there, kind, ...change })
const filled = (amount = 100n) => event('filled', { amount })
const taken = (change: Change = {}) =>
  event('vault_deposited', { account: USER, vaultAddress: VAULT, shares: 77n, ...change })
const refund = (kind: Kind): TransferEvent => ({
  ...{ ...none, kind, ...onSource, txHash: REFUND },
  ...{ logIndex: 5, at: REFUNDED_AT },
})

const transferOf = (deposit: BridgeDeposit, events: readonly TransferEvent[]): Transfer => ({
  ...{ deposit, events: [deposited, ...events], blockNumber: 1n, isFinal: true, quote: quoteOf(deposit) },
})
const quoteOf = (deposit: BridgeDeposit): Quote => ({
  ...{ terms: pickTerms(deposit), vault: { chainId: BASE, address: VAULT }, expectedFillSeconds: 90 },
})

const EXPECTED_AT = new Date(SENT_AT.getTime() + 90_000)
const BEFORE_FILL = {
  ...{ action: 'deposit', recipient: USER, vaultAddress: VAULT, outputAmount: null, sharesReceived: null },
  ...{ output: { token: TOKEN, symbol: 'USDC', decimals: 6, amount: 100n }, refund: null, expectedAt: null },
  timestamps: { initiated: SENT_AT, bridged: null, completed: null },
  transactions: { source: SENT, fill: null },
  links: { source: `https://arbiscan.io/tx/${SENT}`, fill: null, refund: null },
}
const AFTER_FILL = {
  ...{ ...BEFORE_FILL, outputAmount: 100n },
  timestamps: { initiated: SENT_AT, bridged: FILLED_AT, completed: null },
  transactions: { source: SENT, fill: FILL },
  links: { ...BEFORE_FILL.links, fill: `https://basescan.org/tx/${FILL}` },
}
const COMPLETED = { ...AFTER_FILL, timestamps: { ...AFTER_FILL.timestamps, completed: FILLED_AT } }
const REFUND_LINKS = { ...BEFORE_FILL.links, refund: `https://arbiscan.io/tx/${REFUND}` }
const refundWith = (claim: object | null) => ({
  ...{ chainId: ARBITRUM, token: SOURCE_TOKEN, amount: 105n, txHash: REFUND, at: REFUNDED_AT, claim },
})
const CLAIM = {
  chainId: ARBITRUM,
  to: POOLS[ARBITRUM],
  data: encodeFunctionData({
    abi: poolAbi,
    functionName: 'claimRelayerRefund',
    args: [pad(SOURCE_TOKEN), pad(USER)],
  }),
  value: 0n,
}

type Row = {
  readonly transfer?: Transfer
  readonly isProven?: boolean
  readonly status: TransferStatus['status']
  readonly reason?: TransferStatus['reason']
  readonly isTerminal?: boolean
  readonly says: object
}
const UNKNOWN = {
  ...{ action: null, dstChain: null, inputAmount: null, depositor: null, recipient: null, vaultAddress: null },
  ...{ input: null, output: null, expectedAt: null, deadline: null, refund: null, events: [], replacedBy: null },
  timestamps: { initiated: null, bridged: null, completed: null },
}
const waiting = { transfer: transferOf(INTO_VAULT, []), isProven: false }
const failed = { ...waiting, status: 'failed', says: BEFORE_FILL } as const
const ended = { isProven: true, isTerminal: true } as const

const ROWS: Readonly<Record<Outcome, Row>> = {
  pending: { status: 'pending', says: UNKNOWN },
  source_reverted: { status: 'failed', reason: 'source_reverted', isTerminal: true, says: UNKNOWN },
  no_deposit_in_transaction: {
    ...{ status: 'failed', reason: 'no_deposit_in_transaction', isTerminal: true, says: UNKNOWN },
  },
  no_deposit_with_index: {
    ...{ status: 'failed', reason: 'no_deposit_in_transaction', isTerminal: true, says: UNKNOWN },
  },
  source_dropped: { status: 'failed', reason: 'source_dropped', isTerminal: true, says: UNKNOWN },
  bridging: { ...waiting, status: 'bridging', says: { ...BEFORE_FILL, expectedAt: EXPECTED_AT } },
  bridging_slowly: {
    transfer: transferOf(INTO_VAULT, [event('slow_fill_requested')]),
    ...{ isProven: false, status: 'bridging', says: { ...BEFORE_FILL, expectedAt: EXPECTED_AT } },
  },
  locating: { ...waiting, status: 'bridging', says: { ...BEFORE_FILL, expectedAt: EXPECTED_AT } },
  unproven: { transfer: transferOf(INTO_VAULT, [filled()]), isProven: true, status: 'bridging', says: AFTER_FILL },
  deposited: {
    transfer: transferOf(INTO_VAULT, [filled(), taken()]),
    ...{ ...ended, status: 'completed', says: { ...COMPLETED, sharesReceived: 77n } },
  },
  deposited_elsewhere: {
    transfer: transferOf(INTO_VAULT, [
      event('sped_up'),
      filled(),
      taken({ account: OTHER, vaultAddress: OTHER_VAULT }),
    ]),
    ...{ ...ended, status: 'completed' },
    says: { ...COMPLETED, sharesReceived: 77n, recipient: OTHER, vaultAddress: OTHER_VAULT },
  },
  delivered: {
    transfer: transferOf(toAccount(OTHER), [filled(), event('delivered', { account: OTHER })]),
    ...{ ...ended, status: 'completed' },
    says: { ...COMPLETED, action: 'none', recipient: OTHER, vaultAddress: null },
  },
  delivered_elsewhere: {
    transfer: transferOf(INTO_VAULT, [event('sped_up'), filled(), event('delivered', { account: OTHER })]),
    ...{ ...ended, status: 'completed' },
    says: { ...COMPLETED, action: 'none', recipient: OTHER, vaultAddress: null },
  },
  undelivered: {
    transfer: transferOf(INTO_VAULT, [event('sped_up'), filled(), event('undelivered')]),
    ...{ ...ended, status: 'failed', reason: 'undelivered' },
    says: { ...AFTER_FILL, action: 'none', recipient: null, vaultAddress: null },
  },
  destination_action_failed: {
    transfer: transferOf(INTO_VAULT, [filled(), event('action_failed', { account: OTHER, amount: 60n })]),
    ...{ ...ended, status: 'failed', reason: 'destination_action_failed' },
    says: { ...AFTER_FILL, action: 'deposit', outputAmount: 60n, recipient: OTHER, vaultAddress: VAULT },
  },
  destination_not_followed: {
    transfer: transferOf({ ...toAccount(OTHER), destinationChainId: 59_144 }, []),
    ...{ isProven: false, isTerminal: true, status: 'bridging', reason: 'destination_not_followed' },
    says: {
      ...{ ...BEFORE_FILL, action: 'none', vaultAddress: null, recipient: OTHER, expectedAt: EXPECTED_AT },
      ...{ output: { token: TOKEN, symbol: null, decimals: null, amount: 100n } },
      ...{ dstChain: { id: 59_144, name: 'unknown' } },
    },
  },
  expired: { ...failed, reason: 'expired' },
  expired_searching: { ...failed, reason: 'expired' },
  expired_undecided: { ...failed, reason: 'expired', isTerminal: true },
  refund_not_found: { ...failed, reason: 'refund_not_found', isTerminal: true },
  refund_owed: {
    transfer: transferOf(INTO_VAULT, [refund('refund_owed')]),
    ...{ isProven: true, status: 'failed', reason: 'expired' },
    says: { ...BEFORE_FILL, refund: refundWith(CLAIM), links: REFUND_LINKS },
  },
  refunded: {
    transfer: transferOf(INTO_VAULT, [refund('refunded')]),
    ...{ ...ended, status: 'failed', reason: 'refunded' },
    says: { ...BEFORE_FILL, refund: refundWith(null), links: REFUND_LINKS },
  },
}

test('Each outcome has a status and a row in this table', () => {
  expect(Object.keys(STATUS_BY_OUTCOME).toSorted()).toEqual(Outcome.options.toSorted())
  expect(Object.keys(ROWS).toSorted()).toEqual(Outcome.options.toSorted())
})

test('Each kind of event is in a row of this table', () => {
  const kinds = Object.values(ROWS).flatMap(({ transfer }) => transfer?.events.map(({ kind }) => kind) ?? [])
  expect(new Set(kinds)).toEqual(new Set(TransferEvent.shape.kind.options))
})

describe('The status of a transfer', () => {
  const describeRow = (outcome: Outcome, isFinal?: boolean) => {
    const { transfer } = ROWS[outcome]
    if (transfer) return describeTransfer(transfer, outcome, isFinal)
    return buildEmptyStatus(ARBITRUM, SENT, outcome, isFinal)
  }

  test.for(Outcome.options)('%s follows from its events', (outcome) => {
    const { transfer, isProven, status, reason = null, isTerminal = false, says } = ROWS[outcome]
    if (transfer) expect(deriveOutcome(transfer)).toBe(isProven ? outcome : undefined)
    const transferFields = transfer && {
      ...{ depositor: USER, inputAmount: 105n, events: transfer.events, deadline: toDate(2_000_000_000n) },
      input: { token: SOURCE_TOKEN, symbol: 'USDC', decimals: 6, amount: 105n },
      ...{ dstChain: { id: BASE, name: 'Base' }, replacedBy: null },
    }
    const described = describeRow(outcome)
    expect(described).toMatchObject({
      ...{ depositId: SENT, status, reason, terminal: isTerminal, final: false },
      srcChain: { id: ARBITRUM, name: 'Arbitrum One' },
      ...{ transactions: { source: SENT }, links: { source: `https://arbiscan.io/tx/${SENT}` } },
      ...transferFields,
      ...says,
    })
    expect(described.statusDescription).toMatch(/^[A-Z].*\.$/)
    expect(described.nextPollAfterMs === null).toBe(isTerminal)
    expect(TransferStatus.strict().parse(TransferStatus.encode(described))).toEqual(described)
  })

  test.for(Outcome.options)('%s is final only if it is terminal', (outcome) => {
    expect(describeRow(outcome, true).final).toBe(ROWS[outcome].isTerminal === true)
  })

  test('has the promised amount before the fill, and the delivered one after it', () => {
    const outputOf = (...events: TransferEvent[]) =>
      describeTransfer(transferOf(INTO_VAULT, events), 'unproven').output?.amount
    expect(outputOf()).toBe(100n)
    expect(outputOf(event('sped_up', { amount: 90n }), filled(90n))).toBe(90n)
  })

  test('has an expected arrival only with a quote of the service', () => {
    const { quote: _, ...unquoted } = transferOf(INTO_VAULT, [])
    expect(describeTransfer(unquoted, 'bridging').expectedAt).toBeNull()
  })

  test('has no output amount for a failure without an amount', () => {
    const events = [filled(), event('action_failed', { account: USER, amount: null })]
    const status = describeTransfer(transferOf(INTO_VAULT, events), 'destination_action_failed')
    expect(status).toMatchObject({ outputAmount: null, recipient: USER })
  })

  test('has the later payment of a refund that could not be paid at first', () => {
    const events = [refund('refund_owed'), { ...refund('refunded'), txHash: FILL }]
    const status = describeTransfer(transferOf(INTO_VAULT, events), 'refunded')
    expect(status.refund).toMatchObject({ txHash: FILL, claim: null })
  })
})

describe('The outcome that events prove', () => {
  const outcome = (deposit: BridgeDeposit, ...events: TransferEvent[]) => deriveOutcome(transferOf(deposit, events))
  const delivered = (account: Address | null) => event('delivered', { account })
  const spedUp = event('sped_up')

  test('is a deposit elsewhere if another account or another vault has it', () => {
    expect(outcome(INTO_VAULT, spedUp, filled(), taken())).toBe('deposited')
    expect(outcome(INTO_VAULT, spedUp, filled(), taken({ account: OTHER }))).toBe('deposited_elsewhere')
    expect(outcome(INTO_VAULT, spedUp, filled(), taken({ vaultAddress: OTHER_VAULT }))).toBe('deposited_elsewhere')
    expect(outcome(toAccount(USER), spedUp, filled(), taken())).toBe('deposited_elsewhere')
  })

  test('is a delivery to the recipient, to the depositor, or elsewhere', () => {
    expect(outcome(toAccount(OTHER), filled(), delivered(OTHER))).toBe('delivered')
    expect(outcome(toAccount(OTHER), spedUp, filled(90n), delivered(OTHER))).toBe('delivered')
    expect(outcome(toAccount(OTHER), spedUp, filled(), delivered(USER))).toBe('delivered')
    expect(outcome(toAccount(OTHER), spedUp, filled(), delivered(VAULT))).toBe('delivered_elsewhere')
    expect(outcome(INTO_VAULT, spedUp, filled(), delivered(USER))).toBe('delivered')
    expect(outcome(INTO_VAULT, spedUp, filled(), delivered(null))).toBe('delivered_elsewhere')
  })

  test('is a delivery to any account for another tool’s message', () => {
    const message = encodeAbiParameters(MESSAGE_PARAMETERS, [{ calls: [], fallbackRecipient: USER }])
    const foreign = buildMessageDeposit({ user: USER, id: 1n, amount: 100n, message })
    expect(outcome(foreign, filled(), delivered(OTHER))).toBe('delivered')
    expect(outcome(foreign, filled(), delivered(null))).toBe('delivered')
    const toOther = { ...foreign, relayData: { ...foreign.relayData, recipient: pad(OTHER) } }
    expect(outcome(toOther, filled(), delivered(OTHER))).toBe('delivered')
    expect(outcome(toOther, spedUp, filled(90n), delivered(OTHER))).toBe('delivered')
    expect(outcome(toOther, spedUp, filled(90n), delivered(HANDLER))).toBe('delivered_elsewhere')
  })

  test('is undefined before the fill or the refund', () => {
    expect(outcome(INTO_VAULT)).toBeUndefined()
    expect(outcome(INTO_VAULT, event('slow_fill_requested'))).toBeUndefined()
  })
})
