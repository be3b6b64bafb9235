import { type Address as EvmAddress, type Hash, isHash } from 'viem'
import * as z from 'zod'
import { StoredBlock } from '../chain/blocks.ts'
import { Evidence, EvidenceList } from '../chain/evidence.ts'
import { HexText } from '../chain/hex.ts'
import { ChainTransaction } from '../chain/transaction.ts'
import { Address, Amount, Timestamp, TransactionHash } from '../core/codecs.ts'
import { Quote, Terms } from './quote.ts'

const HashText = z.string().refine((text): text is Hash => isHash(text))

const EVENT_KINDS = {
  deposited: 'the bridge took the funds on the source chain',
  slow_fill_requested: 'the bridge itself will pay, which takes hours',
  sped_up: 'the bridge paid by other terms, which the depositor signed later',
  filled: 'the bridge paid on the destination chain',
  delivered: '`account` received the tokens',
  undelivered: 'the tokens lie at a public contract, because the depositor signed no instruction for them',
  vault_deposited: 'the vault took the deposit for `account`',
  action_failed: 'the vault deposit failed, and `account` received the tokens',
  refund_owed: 'the bridge could not pay the refund, so `account` has to claim it',
  refunded: 'the bridge paid the refund to `account`',
}

/** Event on a chain that proves a step of a transfer. */
export const TransferEvent = z
  .object({
    // The cast holds: Object.keys types the object's own keys as string.
    kind: z.enum(Object.keys(EVENT_KINDS) as (keyof typeof EVENT_KINDS)[]).describe(
      Object.entries(EVENT_KINDS)
        .map(([kind, meaning]) => `${kind}: ${meaning}`)
        .join('. '),
    ),
    chainId: z.number().int().describe('Chain of the event'),
    txHash: TransactionHash.describe('Transaction of the event'),
    logIndex: z.number().int().describe("Index of the event's log in its block"),
    at: Timestamp.describe('Block time'),
    amount: Amount.nullable().describe("Amount in the token's smallest unit; null if unknown"),
    token: Address.nullable().describe('Token of the amount; null if none'),
    account: Address.nullable().describe('Account that the event is about; null if unknown'),
    vaultAddress: Address.nullable().describe('Vault that took the deposit; null for other events'),
    shares: Amount.nullable().describe(
      "Shares received, in the share's smallest unit; null for other events and for requests",
    ),
  })
  .meta({ id: 'TransferEvent', description: 'Event of a chain that proves a step of a transfer' })
export type TransferEvent = z.output<typeof TransferEvent>

const REASONS = {
  source_reverted: 'the source transaction reverted',
  no_deposit_in_transaction: 'no bridge deposit with this index in the transaction',
  source_dropped: 'the transaction is no longer valid, and no other one made this deposit',
  expired: 'it was not filled in time; usually becomes refunded or refund_not_found',
  refunded: 'the bridge refunded it on the source chain',
  refund_not_found: 'no certain refund found two weeks after the deadline',
  destination_action_failed:
    'it arrived, but the vault deposit failed; the tokens went to the fallback account of the transfer',
  undelivered: 'it arrived without an instruction, at a public contract from which anyone can take it',
  destination_not_followed: 'the status stays bridging because this service does not read the destination chain',
}
// The cast holds: Object.keys types the object's own keys as string.
const Reason = z.enum(Object.keys(REASONS) as (keyof typeof REASONS)[])
const ABOUT_REASONS = [
  'Reason why it failed or is no longer followed, else null',
  ...Object.entries(REASONS).map(([reason, meaning]) => `${reason}: ${meaning}`),
].join('. ')

const ChainName = z
  .object({ id: z.number().int().describe('Chain id'), name: z.string().describe('Chain name') })
  .meta({ id: 'ChainName', description: 'A chain by its id and name' })

const tokenAmount = (about: string) =>
  z
    .object({
      token: Address,
      symbol: z.string().nullable().describe('Null for a token that the service does not know'),
      decimals: z.number().int().nullable().describe('Null for a token that the service does not know'),
      amount: Amount.describe(about),
    })
    .nullable()

const Refund = z
  .object({
    chainId: z.number().int().describe('Source chain'),
    token: Address,
    amount: Amount.describe("Refund in the source token's smallest unit"),
    txHash: TransactionHash.describe('Transaction that paid it; with `claim`, the one that could not'),
    at: Timestamp.describe('Block time'),
    claim: ChainTransaction.nullable().describe(
      'Transaction with which the depositor claims the refund; null once it is paid',
    ),
  })
  .meta({ id: 'TransferRefund', description: 'Refund of a transfer that was not filled in time' })

/** Status of a transfer into a vault on another chain, or of a withdrawal to another chain. Unknown fields are null. */
export const TransferStatus = z
  .object({
    depositId: TransactionHash.describe('Requested hash; in events, the source transaction hash'),
    status: z
      .enum(['pending', 'bridging', 'completed', 'failed'])
      .describe(
        'pending: not mined yet. bridging: in the bridge; terminal only with destination_not_followed. completed: terminal. failed: terminal; with expired see `terminal`',
      ),
    statusDescription: z.string().describe('Status as text for users'),
    reason: Reason.nullable().describe(ABOUT_REASONS),
    action: z
      .enum(['deposit', 'none'])
      .nullable()
      .describe(
        'Action on the destination: deposit into a vault, or none if the bridge only delivers the funds; null until the bridge deposit is seen',
      ),
    terminal: z.boolean().describe('True if nothing more is expected: stop polling'),
    final: z
      .boolean()
      .describe(
        "True if the transfer's blocks are final on both chains, so its status never changes again. Only if terminal, usually some minutes later",
      ),
    nextPollAfterMs: z.number().int().nullable().describe('Milliseconds until the next poll; null if terminal'),
    srcChain: ChainName,
    dstChain: ChainName.nullable().describe('Destination chain; null until the bridge deposit is seen'),
    inputAmount: Amount.nullable().describe("Amount sent, in the source token's smallest unit"),
    outputAmount: Amount.nullable().describe(
      "Amount that arrived, in the destination token's smallest unit. If the destination deposit failed: the tokens that the user received",
    ),
    timestamps: z
      .object({
        initiated: Timestamp.nullable(),
        bridged: Timestamp.nullable(),
        completed: Timestamp.nullable(),
      })
      .describe('Time of the send, of the arrival and of the action; null before'),
    transactions: z
      .object({ source: TransactionHash, fill: TransactionHash.nullable() })
      .describe('Source transaction, and the fill on the other chain; null before'),
    depositor: Address.nullable().describe('Account that sent it and receives a refund'),
    recipient: Address.nullable().describe('Account that receives the shares or the tokens'),
    vaultAddress: Address.nullable().describe('Vault that it ends in; null if the bridge only delivers the funds'),
    input: tokenAmount("Amount sent, in the token's smallest unit").describe('Token and amount sent'),
    output: tokenAmount("Promised amount; delivered amount after the fill, in the token's smallest unit").describe(
      'Token and amount on the destination',
    ),
    sharesReceived: Amount.nullable().describe(
      "Shares that the vault minted, in the share's smallest unit; null for requests",
    ),
    expectedAt: Timestamp.nullable().describe('Expected arrival by the quote; null if unknown or arrived'),
    deadline: Timestamp.nullable().describe('Time after which an unfilled transfer is refunded'),
    refund: Refund.nullable().describe('Refund on the source chain; null if none is paid or owed'),
    replacedBy: TransactionHash.nullable().describe('Transaction that made the deposit in place of the requested one'),
    events: z.array(TransferEvent).describe('Events of both chains that prove the status, in order'),
    links: z
      .object({
        source: z.url().describe('Source transaction'),
        fill: z.url().nullable().describe('Fill on the destination chain'),
        refund: z.url().nullable().describe('Refund on the source chain'),
      })
      .describe('Transactions in block explorers; null before'),
  })
  .meta({ id: 'TransferStatus' })
export type TransferStatus = z.output<typeof TransferStatus>

/**
 * Deposit into the bridge, from the event of the bridge's pool. Accounts and tokens are 32 bytes, amounts are in
 * smallest units, times in seconds since 1970. `destinationChainId` is 0 if the id exceeds JavaScript's safe integers.
 */
const BridgeDeposit = z.object({
  relayData: z.object({
    depositor: HexText,
    recipient: HexText,
    exclusiveRelayer: HexText,
    inputToken: HexText,
    outputToken: HexText,
    inputAmount: Amount,
    outputAmount: Amount,
    originChainId: Amount,
    depositId: Amount,
    fillDeadline: z.number().int(),
    exclusivityDeadline: z.number().int(),
    message: HexText,
  }),
  destinationChainId: z.number().int(),
  quoteTimestamp: z.number().int(),
})
export type BridgeDeposit = z.output<typeof BridgeDeposit>

/** Range of blocks whose events a search has read, both ends included. */
const LogSearch = z.object({
  low: Amount,
  high: Amount,
  /** Number of blocks whose events the next call of the search requests; undefined before the first call. */
  span: Amount.optional(),
})
export type LogSearch = z.output<typeof LogSearch>

const RefundSearch = z.object({
  final: StoredBlock.optional(),
  blocks: LogSearch.optional(),
  /**
   * Last block whose events the search reads. It is the block of the payment that the bridge's API reports as the
   * refund. Undefined without such a payment, or once that payment proves not to complete the refund. The search then
   * reads up to the newest final block.
   */
  until: Amount.optional(),
  /** Transactions that may contain a payment; their receipts must still be read. */
  leads: z.array(z.object({ txHash: HashText, blockNumber: Amount })),
  /**
   * Payments of the bridge's pool to the depositor in the transfer's token. `isOwed` is true if the pool could not pay,
   * so that the depositor has to claim the amount.
   */
  payments: z.array(
    z.object({ txHash: HashText, logIndex: z.number().int(), at: Timestamp, amount: Amount, isOwed: z.boolean() }),
  ),
  /** Other deposits of the depositor in the same token, for which the pool may owe a refund. `deadline` is in seconds since 1970. */
  rivals: z.array(
    z.object({ relayHash: HashText, destinationChainId: z.number().int(), deadline: Amount, amount: Amount }),
  ),
  /** Total of all deposits and payments below a thousandth of the transfer's amount, which are not stored individually. */
  dust: Amount,
})
export type RefundSearch = z.output<typeof RefundSearch>

/** Possible outcomes of a transfer; `STATUS_BY_OUTCOME` describes each. */
export const Outcome = z.enum([
  'pending',
  'bridging',
  'bridging_slowly',
  'locating',
  'unproven',
  'deposited',
  'deposited_elsewhere',
  'delivered',
  'delivered_elsewhere',
  'undelivered',
  'destination_action_failed',
  'destination_not_followed',
  'source_reverted',
  'no_deposit_in_transaction',
  'no_deposit_with_index',
  'source_dropped',
  'expired',
  'expired_searching',
  'expired_undecided',
  'refund_owed',
  'refunded',
  'refund_not_found',
])
export type Outcome = z.output<typeof Outcome>

/** Events of a transfer in the order of its steps; the first event is the deposit. */
const Events = z.tuple([TransferEvent], TransferEvent)

/** Ending of a transfer: its outcome, with the chain events that prove the outcome. */
const Ending = z.object({ outcome: Outcome, events: Events })
export type Ending = z.output<typeof Ending>

/** Stored transfer: its events on the chains, and the progress of the searches for further events. */
export const Transfer = z.object({
  deposit: BridgeDeposit,
  events: Events,
  /** Block of the deposit. The deposit is read again until this block is final. */
  blockNumber: Amount,
  isFinal: z.boolean(),
  /** Latest block of the source chain when the service found the deposit final. API responses name this block as their source. */
  evidence: Evidence.optional(),
  quote: Quote.optional(),
  /** Progress of the search for another transaction with the same deposit, after the deposit's own transaction vanished. */
  goneSearch: LogSearch.optional(),
  fillSearch: LogSearch.optional(),
  /** True once final blocks prove that there was no fill before the deadline. */
  isUnfilled: z.boolean().optional(),
  refundSearch: RefundSearch.optional(),
  /**
   * Time at which the scheduled job refresh-chain reads the transfer next. Absent if the job need not read the
   * transfer, for example once clients were notified of the final outcome.
   */
  lookAt: Timestamp.optional(),
  /**
   * Endings (terminal outcomes with events) that a reorganisation may still revert. Earlier endings are kept until the
   * last one is published to clients. `version` grows with each change.
   */
  latest: z.object({ endings: z.array(Ending), isPublished: z.boolean(), version: z.number().int() }).optional(),
  /** Outcome that can no longer change. `finalEvidence` are the blocks that prove the outcome. */
  final: Outcome.optional(),
  finalEvidence: EvidenceList.optional(),
})
export type Transfer = z.output<typeof Transfer>

/** Key of a transfer: the source chain, the depositor, and the deposit's relay hash. */
export type TransferKey = { readonly sourceChainId: number; readonly depositor: EvmAddress; readonly relayHash: Hash }

/** Key and record of a transfer. */
export type RecordedTransfer = { readonly key: TransferKey; readonly recorded: Transfer }

/** Record of a transaction hash or ERC-4337 user operation hash, with the bridge deposits that it leads to. */
export const SourceHashRecord = z.object({
  sender: z.object({ address: Address, nonce: z.number().int().nonnegative() }).optional(),
  /** Hash of the transaction that contains the user operation. */
  carrier: HashText.optional(),
  account: Address.optional(),
  deposits: z.array(
    Terms.extend({
      relayHash: HashText.optional(),
      /** Progress of the search for a deposit with the same terms in other transactions. */
      search: LogSearch.optional(),
      /** Blocks that prove that the deposit can no longer be made. */
      dropped: EvidenceList.optional(),
    }),
  ),
  isFinal: z.boolean(),
})
export type SourceHashRecord = z.output<typeof SourceHashRecord>
