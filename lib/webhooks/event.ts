import * as z from 'zod'
import { EstimatedSettlement } from '../activity/settlement-waits.ts'
import { TransferStatus } from '../bridge/transfer.ts'
import { ChainId } from '../chain/registry.ts'
import { Address, Amount, Timestamp, TransactionHash } from '../codecs.ts'

const vault = { chainId: ChainId, vaultAddress: Address }

const ofAccount = {
  ...vault,
  userAddress: Address.describe('Whose it is'),
  transactionHash: TransactionHash.nullable().describe(
    'The one that did it; null for a settlement in a vault that tells none, and that was asked',
  ),
  blockNumber: z.number().int().describe('The block of that transaction, or at which the vault was asked'),
}

const Assets = Amount.nullable().describe("In the asset's smallest unit; null where it is not known")
const Shares = Amount.nullable().describe('In smallest units; null where it is not known')

/** An event names no more deposits or withdrawals, so that it stays small. */
export const MOST_IDS = 100

const Deposit = z.object({
  ...ofAccount,
  depositIds: z
    .array(z.string())
    .max(MOST_IDS)
    .describe(
      'The deposits that it is of, as `GET …/deposits` names them; with 100 there may be more, and amounts are of all',
    ),
  assets: Assets,
  shares: Shares,
})

const Withdrawal = z.object({
  ...ofAccount,
  withdrawalIds: z
    .array(z.string())
    .max(MOST_IDS)
    .describe(
      'The withdrawals that it is of, as `GET …/withdrawals` names them; with 100 there may be more, and amounts are of all',
    ),
  assets: Assets,
  shares: Shares,
})

const estimated = {
  estimatedSettlement: EstimatedSettlement.nullable().describe('Null while there are fewer than five'),
}

const Transfer = z.object({
  ...vault,
  userAddress: Address.nullable().describe(
    'Whose it is: who receives the shares, or who withdrew; null where it is not known',
  ),
  ...TransferStatus.shape,
})

const VaultSeen = z.object({ ...vault, blockNumber: z.number().int().describe('Where it was seen first') })

const Reverted = z.object({ ...vault, eventId: z.string().describe('The event that is not so') })

/** One type of event, with what it says and what it means. */
const event = <const Type extends string, Data extends z.ZodObject>(type: Type, data: Data, meaning: string) =>
  z
    .object({
      id: z.string().describe('The same for ever, whenever and however often it is told'),
      type: z.literal(type),
      timestamp: Timestamp.describe("When it happened: its block's time"),
      sequence: z
        .number()
        .int()
        .describe('Its place among all events of the client, which have the numbers 1, 2, 3 and so on'),
      final: z
        .boolean()
        .describe(
          'Whether no reorganisation of the chain can change it; false also of one that says that another, which was not final, is not so',
        ),
      data: data.describe('What happened, where and whose it is'),
    })
    .describe(meaning)

/** What a client is told: something that happened in a vault that it has. The body of a delivery, and an entry of the log. */
export const WebhookEvent = z
  .discriminatedUnion('type', [
    event('deposit.pending', Deposit.extend(estimated), 'A deposit was requested'),
    event(
      'deposit.claimable',
      Deposit,
      'A requested deposit, or more of one, was settled: its shares can be claimed. `assets` is what is new of it',
    ),
    event('deposit.completed', Deposit, 'Shares were received, at once or by a claim'),
    event('deposit.cancelled', Deposit, 'Requested deposits were taken back'),
    event('deposit.reverted', Reverted, 'An event of a deposit that was not final is not so'),
    event('withdrawal.pending', Withdrawal.extend(estimated), 'A redemption was requested'),
    event(
      'withdrawal.claimable',
      Withdrawal,
      'A requested redemption, or more of one, was settled: its assets can be claimed. `shares` is what is new of it',
    ),
    event('withdrawal.completed', Withdrawal, 'Assets were paid, at once or by a claim'),
    event('withdrawal.cancelled', Withdrawal, 'Requested redemptions were taken back'),
    event('withdrawal.reverted', Reverted, 'An event of a withdrawal that was not final is not so'),
    event('transfer.completed', Transfer, 'A transfer between chains has arrived, and did what it was sent for'),
    event('transfer.failed', Transfer, 'A transfer between chains has failed'),
    event('transfer.refunded', Transfer, 'A transfer between chains was paid back where it began'),
    event('transfer.reverted', Reverted, 'An event of a transfer that was not final is not so'),
    event('vault.paused', VaultSeen, 'A vault takes nothing and pays nothing now'),
    event('vault.changed', VaultSeen, 'A vault is not what it was checked as: deposits into it are stopped'),
    event('vault.reverted', Reverted, 'An event of a vault that was not final is not so'),
  ])
  .meta({ id: 'WebhookEvent' })
export type WebhookEvent = z.output<typeof WebhookEvent>

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
