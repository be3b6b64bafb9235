import * as z from 'zod'
import { DepositEntry, WithdrawalEntry } from '../activity/entry-responses.ts'
import { TransferStatus } from '../bridge/transfer.ts'
import { ChainId } from '../chain/registry.ts'
import { Address, Amount, Timestamp, TransactionHash } from '../core/codecs.ts'
import { EstimatedSettlement } from '../vaults/settlement-waits.ts'

const vault = {
  chainId: ChainId.describe('Chain of the vault'),
  vaultAddress: Address.describe('Vault contract'),
}

const BLOCK = z.number().int()

const ofAccount = {
  ...vault,
  userAddress: Address.describe('Account that owns the deposit or withdrawal'),
  transactionHash: TransactionHash.nullable().describe(
    'Transaction that caused the event; null if the vault emits no event for a settlement and the service read it from the vault',
  ),
  blockNumber: BLOCK.describe('Block of that transaction, or the block at which the service read the vault'),
}

const moved = {
  assets: Amount.nullable().describe("Assets of this event, in the asset's smallest unit; null if unknown"),
  shares: Amount.nullable().describe("Shares of this event, in the share's smallest unit; null if unknown"),
}

const DepositId = z.string().nullable().describe('`depositId` of the deposit in `GET …/deposits`; null if unknown')
const WithdrawalId = z
  .string()
  .nullable()
  .describe('`withdrawalId` of the withdrawal in `GET …/withdrawals`; null if unknown')

const Version = BLOCK.describe(
  'Block whose state `entry` shows: the last final block, or the latest block with `final: false`. A state of the same id with a higher version is newer; with equal versions, the higher `sequence` is newer',
)

const deposit = {
  ...ofAccount,
  depositId: DepositId,
  entry: DepositEntry.nullable().describe('The whole deposit at block `version`; null if it could not be read'),
  version: Version,
  ...moved,
}

const withdrawal = {
  ...ofAccount,
  withdrawalId: WithdrawalId,
  entry: WithdrawalEntry.nullable().describe('The whole withdrawal at block `version`; null if it could not be read'),
  version: Version,
  ...moved,
}

const estimated = {
  estimatedSettlement: EstimatedSettlement.nullable().describe(
    "Time that requests waited in the vault's last settlements; null with fewer than five",
  ),
}

const RequestedDeposit = z.object({ ...deposit, ...estimated }).meta({ id: 'RequestedDepositData' })
const Deposit = z.object(deposit).meta({ id: 'DepositData' })
const RequestedWithdrawal = z.object({ ...withdrawal, ...estimated }).meta({ id: 'RequestedWithdrawalData' })
const Withdrawal = z.object(withdrawal).meta({ id: 'WithdrawalData' })

const Transfer = z
  .intersection(
    z.object({
      chainId: ChainId.describe('Chain of the vault; `srcChain` and `dstChain` are those of the transfer'),
      vaultAddress: Address.describe(
        'Vault that the transfer is for, or from which the withdrawal was prepared. Other transfers cause no event',
      ),
      userAddress: Address.nullable().describe('Account that receives the shares or that withdrew; null if unknown'),
    }),
    TransferStatus.omit({ vaultAddress: true }),
  )
  .meta({ id: 'TransferData' })

const Vault = z
  .object({ ...vault, blockNumber: BLOCK.describe('Block at which the service first saw it') })
  .meta({ id: 'VaultData' })

const reward = {
  chainId: ChainId.describe('Chain of the reward'),
  userAddress: Address.describe('Account that owns the reward'),
  token: Address.describe('Token that is paid'),
}

const ClaimableReward = z
  .object({
    ...reward,
    symbol: z.string().nullable().describe("The token's own symbol; null if it has none"),
    decimals: z.number().int().describe("The token's decimals"),
    amount: Amount.describe("Amount that a claim pays now, in the token's smallest unit"),
    usd: z.number().describe('`amount` in US dollars'),
  })
  .meta({ id: 'ClaimableRewardData' })
const ClaimedReward = z
  .object({
    ...reward,
    amount: Amount.describe("Amount that the claim paid, in the token's smallest unit"),
    transactionHash: TransactionHash.describe('Transaction of the claim'),
    blockNumber: BLOCK.describe('Block of that transaction'),
  })
  .meta({ id: 'ClaimedRewardData' })

const reverted = { ...vault, eventId: z.string().describe('The `id` of the reverted event') }

const ofRevertedAccount = {
  ...reverted,
  userAddress: Address.nullable().describe('Account that owns the deposit or withdrawal; null if unknown'),
}

const RevertedDeposit = z
  .object({
    ...ofRevertedAccount,
    depositId: DepositId,
    entry: DepositEntry.nullable().describe(
      'The deposit without the reverted event. Null with a `depositId`: it no longer exists',
    ),
    version: Version,
  })
  .meta({ id: 'RevertedDepositData' })
const RevertedWithdrawal = z
  .object({
    ...ofRevertedAccount,
    withdrawalId: WithdrawalId,
    entry: WithdrawalEntry.nullable().describe(
      'The withdrawal without the reverted event. Null with a `withdrawalId`: it no longer exists',
    ),
    version: Version,
  })
  .meta({ id: 'RevertedWithdrawalData' })
const Reverted = z.object(reverted).meta({ id: 'RevertedData' })

/** Returns the name of an event type's schema, such as DepositPendingEvent for `deposit.pending`. */
const nameOf = (type: string) =>
  `${type.replaceAll(/(?:^|\.)\w/g, (letter) => letter.replace('.', '').toUpperCase())}Event`

const Id = z.string().meta({
  description: 'Event id, the same in every delivery and in the list; `webhook-id` of each delivery',
  examples: ['evt_f5cf0a79c7f0c50fdb5aadc94943cea8'],
})

const event = <const Type extends string, Data extends z.ZodType>(type: Type, data: Data) =>
  z
    .object({
      id: Id,
      type: z.literal(type),
      timestamp: Timestamp.describe('Time of its block'),
      sequence: z.number().int().describe("Number of the event among the client's events, counted 1, 2, 3"),
      final: z
        .boolean()
        .describe(
          "True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted`",
        ),
      data: data.describe('Details of the event'),
    })
    .meta({ id: nameOf(type) })

/** An event in a client's vault or a user's rewards. It is both the body of a delivery and an entry of the client's log of events. */
export const WebhookEvent = z
  .discriminatedUnion('type', [
    event('deposit.pending', RequestedDeposit),
    event('deposit.claimable', Deposit),
    event('deposit.completed', Deposit),
    event('deposit.cancelled', Deposit),
    event('deposit.reverted', RevertedDeposit),
    event('withdrawal.pending', RequestedWithdrawal),
    event('withdrawal.claimable', Withdrawal),
    event('withdrawal.completed', Withdrawal),
    event('withdrawal.cancelled', Withdrawal),
    event('withdrawal.reverted', RevertedWithdrawal),
    event('transfer.completed', Transfer),
    event('transfer.failed', Transfer),
    event('transfer.refunded', Transfer),
    event('transfer.reverted', Reverted),
    event('vault.paused', Vault),
    event('vault.resumed', Vault),
    event('vault.changed', Vault),
    event('vault.reverted', Reverted),
    event('reward.claimable', ClaimableReward),
    event('reward.claimed', ClaimedReward),
  ])
  .meta({
    id: 'WebhookEvent',
    description: 'Event of a vault of yours or of the rewards of a user, named by `type`',
  })
export type WebhookEvent = z.output<typeof WebhookEvent>

/** Body of a test delivery (POST /webhooks/{id}/test), which is not kept in the log of events. */
export const WebhookTestEvent = z
  .object({
    id: Id,
    type: z.literal('webhook.test'),
    timestamp: Timestamp.describe('Time when it was sent'),
    data: z
      .object({ webhookId: z.string().describe('Webhook id from `GET /webhooks`') })
      .describe('Webhook under test'),
  })
  .meta({ id: 'WebhookTestEvent' })

/** Types of webhook events, such as `deposit.pending`. */
export const EventType = z.enum(WebhookEvent.options.map(({ shape }) => shape.type.value))
export type EventType = z.output<typeof EventType>

/**
 * An event to publish, before it gets an id and sequence number for each client of the vault. A client's log contains
 * each `key` once. An event that reverts another one has the `key` of the reverted event as its `eventId`, and goes to
 * the same clients.
 */
export type Notice = NoticeOf<Exclude<WebhookEvent, { readonly type: RewardType }>>

/**
 * An event about rewards to publish, before it gets an id and sequence number for each client that watches the account.
 * Its `key` has the same meaning as that of `Notice`.
 */
export type RewardNotice = NoticeOf<Extract<WebhookEvent, { readonly type: RewardType }>>

type RewardType = `reward.${string}`
type NoticeOf<Event> = Event extends WebhookEvent ? Omit<Event, 'id' | 'sequence'> & { readonly key: string } : never

/** An event to publish about a deposit or a withdrawal. */
export type EntryNotice = Extract<Notice, { readonly data: { readonly entry: unknown } }>

/** True if an event to publish is about a deposit or a withdrawal. */
export function isEntryNotice(notice: Notice): notice is EntryNotice {
  return 'entry' in notice.data
}

/** Returns the id of the deposit or withdrawal that an event to publish is about; null if it is unknown. */
export function getEntryId({ data }: EntryNotice): string | null {
  return 'depositId' in data ? data.depositId : data.withdrawalId
}
