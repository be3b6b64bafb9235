import * as z from 'zod'
import { STATUS_BY_OUTCOME } from '../lib/bridge/timeline.ts'
import type { Outcome } from '../lib/bridge/transfer.ts'
import { type EventType, WebhookEvent } from '../lib/webhooks/event.ts'
import recorded from './examples.json' with { type: 'json' }

// This file composes the examples, because no recorded run of the service sent all types of events. Deposits,
// withdrawals and the transfer in the examples come from recorded responses.
const DEPOSIT = first(recorded.listDeposits.response.deposits)
const WITHDRAWAL = first(recorded.listWithdrawals.response.withdrawals)
const TRANSFER = recorded.getTransferStatus.response
const SENT = first(TRANSFER.events)

const [ASSETS, SHARES] = ['1000000000', '962769316119318097883']
const BLOCK = 38_412_345
const SETTLEMENTS = { p50: 86_400, p90: 172_800 }
const { chainId, vaultAddress, userAddress, transactionHash, timestamp: AT } = DEPOSIT
const VAULT = { chainId, vaultAddress }
const REWARD = {
  ...{ chainId, userAddress, token: '0xBAa5CC21fd487B8Fcc2F632f3F4E8D37262a0842' },
  amount: '12500000000000000000',
}

function first<Item>([item]: readonly Item[]): Item {
  if (item === undefined) throw new Error('A recorded list is empty. Run: npm run examples')
  return item
}

function deposit(status: string, statusDescription: string, amounts: object) {
  const none = { pendingDeposit: '0', claimableShares: '0', currentShares: '0' }
  const entry = { ...DEPOSIT, status, statusDescription, amounts: { depositedAssets: ASSETS, ...none, ...amounts } }
  return { ...ofAccount(entry), depositId: DEPOSIT.depositId }
}

function withdrawal(status: string, statusDescription: string, assets: string | null, amounts: object) {
  const none = { pendingShares: '0', claimableShares: '0', claimableAssets: '0', paidShares: '0', paidAssets: '0' }
  const claimTransactionHash = status === 'completed' ? transactionHash : null
  const shown = { status, statusDescription, assets, claimTransactionHash }
  const entry = { ...WITHDRAWAL, ...shown, shares: SHARES, amounts: { ...none, cancelledShares: '0', ...amounts } }
  return { ...ofAccount(entry), withdrawalId: WITHDRAWAL.withdrawalId }
}

function ofAccount<Entry>(entry: Entry) {
  return { ...VAULT, userAddress, transactionHash, blockNumber: BLOCK, entry, version: BLOCK + 12 }
}

function transfer(outcome: Outcome, overrides: object = {}) {
  const { status, statusDescription, reason, terminal, nextPollAfterMs } = STATUS_BY_OUTCOME[outcome]
  const row = { status, statusDescription, reason, terminal, nextPollAfterMs }
  return { ...TRANSFER, ...VAULT, userAddress, ...row, final: true, ...overrides }
}

function endingWith(kind: string, overrides: object = {}) {
  const [sent, filled] = TRANSFER.events
  return [sent, filled, { ...filled, kind, logIndex: 3, account: userAddress, ...overrides }]
}

const reverted = (data: object) => ({ ...VAULT, eventId: 'evt_f5cf0a79c7f0c50fdb5aadc94943ceff', ...data })

/** Field `data` of an example event of each type. It may have more fields than the schema, which removes them. */
const DATA: Readonly<Record<EventType, object>> = {
  'deposit.pending': {
    ...deposit('pending', 'Deposit request submitted, awaiting curator settlement.', { pendingDeposit: ASSETS }),
    ...{ assets: ASSETS, shares: null, estimatedSettlement: SETTLEMENTS },
  },
  'deposit.claimable': {
    ...deposit('claimable', 'The curator has settled the epoch; the shares are ready to claim.', {
      claimableShares: SHARES,
    }),
    ...{ assets: ASSETS, shares: SHARES },
  },
  'deposit.completed': {
    ...deposit('completed', 'The shares have been received.', { currentShares: SHARES }),
    ...{ assets: ASSETS, shares: SHARES },
  },
  'deposit.cancelled': {
    ...deposit('cancelled', 'The deposit request was cancelled.', {}),
    ...{ assets: ASSETS, shares: null },
  },
  'deposit.reverted': reverted({ userAddress, depositId: DEPOSIT.depositId, entry: null, version: BLOCK }),
  'withdrawal.pending': {
    ...withdrawal('pending', 'Redemption request submitted, awaiting curator settlement.', null, {
      pendingShares: SHARES,
    }),
    ...{ assets: null, shares: SHARES, estimatedSettlement: SETTLEMENTS },
  },
  'withdrawal.claimable': {
    ...withdrawal('claimable', 'The curator has settled the redemption; the assets are ready to claim.', ASSETS, {
      claimableShares: SHARES,
      claimableAssets: ASSETS,
    }),
    ...{ assets: ASSETS, shares: SHARES },
  },
  'withdrawal.completed': {
    ...withdrawal('completed', 'The assets have been paid.', ASSETS, { paidShares: SHARES, paidAssets: ASSETS }),
    ...{ assets: ASSETS, shares: SHARES },
  },
  'withdrawal.cancelled': {
    ...withdrawal('cancelled', 'The redemption request was cancelled.', '0', { cancelledShares: SHARES }),
    ...{ assets: null, shares: SHARES },
  },
  'withdrawal.reverted': reverted({ userAddress, withdrawalId: WITHDRAWAL.withdrawalId, entry: null, version: BLOCK }),
  'transfer.completed': transfer('deposited', { events: endingWith('vault_deposited', { vaultAddress }) }),
  'transfer.failed': transfer('destination_action_failed', { events: endingWith('action_failed') }),
  'transfer.refunded': transfer('refunded', {
    outputAmount: null,
    timestamps: { ...TRANSFER.timestamps, bridged: null, completed: null },
    transactions: { ...TRANSFER.transactions, fill: null },
    refund: {
      chainId: SENT.chainId,
      token: SENT.token,
      amount: SENT.amount,
      txHash: transactionHash,
      at: AT,
      claim: null,
    },
    events: [SENT, { ...SENT, kind: 'refunded', txHash: transactionHash, at: AT }],
    links: { ...TRANSFER.links, fill: null, refund: `https://arbiscan.io/tx/${transactionHash}` },
  }),
  'transfer.reverted': reverted({}),
  'vault.paused': { ...VAULT, blockNumber: BLOCK },
  'vault.resumed': { ...VAULT, blockNumber: BLOCK },
  'vault.changed': { ...VAULT, blockNumber: BLOCK },
  'vault.reverted': reverted({}),
  'reward.claimable': { ...REWARD, symbol: 'MORPHO', decimals: 18, usd: 21.34 },
  'reward.claimed': { ...REWARD, transactionHash, blockNumber: BLOCK },
}

const TEST = { type: 'webhook.test', timestamp: AT, data: { webhookId: recorded.testWebhook.parameters.id } }

const idOf = (number: number) => `evt_f5cf0a79c7f0c50fdb5aadc94943ce${number.toString(16).padStart(2, '0')}`

/** Example of each delivery as sent, by type of event. Throws if an example does not fit its schema. */
export const EVENT_EXAMPLES: Readonly<Record<string, unknown>> = Object.fromEntries([
  ...WebhookEvent.options.map((schema, index) => {
    const type = schema.shape.type.value
    const final = !type.endsWith('.reverted')
    const event = { id: idOf(index + 1), type, timestamp: AT, sequence: index + 1, final, data: DATA[type] }
    return [type, z.encode(WebhookEvent, WebhookEvent.parse(event))]
  }),
  ['webhook.test', { id: idOf(0), ...TEST }],
])
