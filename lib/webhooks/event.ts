import * as z from 'zod'
import { EstimatedSettlement } from '../activity/settlement-waits.ts'
import { TransferStatus } from '../bridge/transfer.ts'
import { ChainId } from '../chain/registry.ts'
import { Address, Amount, Timestamp, TransactionHash } from '../codecs.ts'

const vault = {
  chainId: ChainId.describe("The vault's chain"),
  vaultAddress: Address.describe('Vault contract'),
}

const BLOCK = z.number().int()

const ofAccount = {
  ...vault,
  userAddress: Address.describe('The account that the deposit or the withdrawal belongs to'),
  transactionHash: TransactionHash.nullable().describe(
    'The transaction that caused it; null for a settlement of a vault that emits no event for it, where the service read it from the vault',
  ),
  blockNumber: BLOCK.describe('The block of that transaction, or the block at which the vault was read'),
}

const Assets = Amount.nullable().describe("In the asset's smallest unit; null where it is not known")
const Shares = Amount.nullable().describe("In the share's smallest unit; null where it is not known")

/** An event names no more deposits or withdrawals, so that it stays small. */
export const MOST_IDS = 100

const Ids = z.array(z.string()).max(MOST_IDS)

const deposit = {
  ...ofAccount,
  depositIds: Ids.describe(
    'The deposits that the event is about: their ids in `GET …/deposits`. At most 100: where there are more, the rest are left out, and the amounts still count all of them',
  ),
  assets: Assets,
  shares: Shares,
}

const withdrawal = {
  ...ofAccount,
  withdrawalIds: Ids.describe(
    'The withdrawals that the event is about: their ids in `GET …/withdrawals`. At most 100: where there are more, the rest are left out, and the amounts still count all of them',
  ),
  assets: Assets,
  shares: Shares,
}

const estimated = {
  estimatedSettlement: EstimatedSettlement.nullable().describe(
    "How long requests waited in the vault's last settlements; null for a vault with fewer than five",
  ),
}

const RequestedDeposit = z.object({ ...deposit, ...estimated }).meta({ id: 'RequestedDepositData' })
const Deposit = z.object(deposit).meta({ id: 'DepositData' })
const RequestedWithdrawal = z.object({ ...withdrawal, ...estimated }).meta({ id: 'RequestedWithdrawalData' })
const Withdrawal = z.object(withdrawal).meta({ id: 'WithdrawalData' })

const Transfer = z
  .intersection(
    z.object({
      chainId: ChainId.describe("The vault's chain; those of the transfer are `srcChain` and `dstChain`"),
      vaultAddress: Address.describe(
        'The vault that the transfer deposits into. Where it deposits into none: the vault that paid what was sent, in the same transaction or as the last one to pay the account before it, at least as much as was sent within a day. What no vault of yours paid is no event',
      ),
      userAddress: Address.nullable().describe(
        'The account that receives the shares of a deposit, or that withdrew; null where it is not known',
      ),
    }),
    TransferStatus,
  )
  .meta({ id: 'TransferData' })

const Vault = z
  .object({ ...vault, blockNumber: BLOCK.describe('The block at which the service first saw it') })
  .meta({ id: 'VaultData' })

const Reverted = z
  .object({ ...vault, eventId: z.string().describe('The `id` of the event that is taken back') })
  .meta({ id: 'RevertedData' })

/** The name of a type's schema: `deposit.pending` is a DepositPendingEvent. */
const nameOf = (type: string) =>
  `${type.replaceAll(/(?:^|\.)\w/g, (letter) => letter.replace('.', '').toUpperCase())}Event`

const Id = z.string().meta({
  description: 'The same however often the event is delivered or listed: `webhook-id` of each delivery',
  examples: ['evt_f5cf0a79c7f0c50fdb5aadc94943cea8'],
})

/** One type of event, with its data. */
const event = <const Type extends string, Data extends z.ZodType>(type: Type, data: Data) =>
  z
    .object({
      id: Id,
      type: z.literal(type),
      timestamp: Timestamp.describe('When it happened: the time of its block'),
      sequence: z.number().int().describe('The number of the event among all events of the client: 1, 2, 3 and so on'),
      final: z
        .boolean()
        .describe(
          'Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted`',
        ),
      data: data.describe('What happened, and where'),
    })
    .meta({ id: nameOf(type) })

/** What a client is told: something that happened in a vault that it has. The body of a delivery, and an entry of the log. */
export const WebhookEvent = z
  .discriminatedUnion('type', [
    event('deposit.pending', RequestedDeposit),
    event('deposit.claimable', Deposit),
    event('deposit.completed', Deposit),
    event('deposit.cancelled', Deposit),
    event('deposit.reverted', Reverted),
    event('withdrawal.pending', RequestedWithdrawal),
    event('withdrawal.claimable', Withdrawal),
    event('withdrawal.completed', Withdrawal),
    event('withdrawal.cancelled', Withdrawal),
    event('withdrawal.reverted', Reverted),
    event('transfer.completed', Transfer),
    event('transfer.failed', Transfer),
    event('transfer.refunded', Transfer),
    event('transfer.reverted', Reverted),
    event('vault.paused', Vault),
    event('vault.changed', Vault),
    event('vault.reverted', Reverted),
  ])
  .meta({ id: 'WebhookEvent', description: 'Something that happened in a vault of yours; `type` says what' })
export type WebhookEvent = z.output<typeof WebhookEvent>

/** What a test delivers, as POST /webhooks/{id}/test sends it: it is in no log. */
export const WebhookTestEvent = z
  .object({
    id: Id,
    type: z.literal('webhook.test'),
    timestamp: Timestamp.describe('When it was sent'),
    data: z
      .object({ webhookId: z.string().describe('Its id, as `GET /webhooks` lists it') })
      .describe('The webhook that is tested'),
  })
  .meta({ id: 'WebhookTestEvent' })

/** The types of events. */
export const EventType = z.enum(WebhookEvent.options.map(({ shape }) => shape.type.value))
export type EventType = z.output<typeof EventType>

/**
 * Something that happened in a vault, before each client that has the vault is told of it: an event without its place in a
 * client's log. Its key names what happened and is the same whenever it is found again: each client is told once by it.
 * One that takes another back has that one's key in the place of its id, and goes to those whom that one went to: it is not
 * final either.
 */
export type Notice = WebhookEvent extends infer Event
  ? Event extends WebhookEvent
    ? Omit<Event, 'id' | 'sequence'> & { readonly key: string }
    : never
  : never
