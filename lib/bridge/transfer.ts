import { type Hash, isHash } from 'viem'
import * as z from 'zod'
import { BlockSearch, StoredBlock } from '../chain/blocks.ts'
import { Evidence, EvidenceList } from '../chain/evidence.ts'
import { HexText } from '../chain/hex.ts'
import { ChainId } from '../chain/registry.ts'
import { Address, Amount, Timestamp, TransactionHash } from '../codecs.ts'

const HashText = z.string().refine((text): text is Hash => isHash(text))

/** Why a transfer has failed, or is no longer followed. */
const REASONS = {
  source_reverted: 'the source transaction reverted, nothing was sent',
  no_deposit_in_transaction:
    'no bridge deposit with this index in the transaction; if the index is 0, nothing was sent',
  source_dropped: 'another transaction took its nonce, nothing was sent',
  expired: 'it was not filled in time; usually becomes refunded or refund_not_found',
  refunded: 'the bridge refunded it on the source chain',
  refund_not_found: 'no certain refund found two weeks after the deadline',
  destination_action_failed:
    'it arrived, but the vault deposit failed; the tokens went to the fallback account of the transfer',
  destination_not_followed: 'the status stays bridging because this service does not read the destination chain',
}
// The keys of an object are strings, of which its type says which.
const Reason = z.enum(Object.keys(REASONS) as (keyof typeof REASONS)[])
const ABOUT_REASONS = [
  'Reason why it failed or is no longer followed, else null',
  ...Object.entries(REASONS).map(([reason, meaning]) => `${reason}: ${meaning}`),
].join('. ')

const ChainName = z
  .object({ id: z.number().int().describe('Chain id'), name: z.string().describe('Chain name') })
  .meta({ id: 'ChainName', description: 'A chain by its id and name' })

/** Where a deposit from another chain stands, or a withdrawal to one. What is not known is null. */
export const TransferStatus = z
  .object({
    depositId: TransactionHash.describe('Source transaction hash'),
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
  })
  .meta({ id: 'TransferStatus' })
export type TransferStatus = z.output<typeof TransferStatus>

/**
 * A deposit into the bridge as the pool's event tells it. Accounts and tokens are 32 bytes, amounts in smallest units,
 * deadlines in seconds since 1970; `destinationChainId` is 0 where it is too large for a number.
 */
const BridgeDeposit = z.object({
  /** What identifies its fill. */
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
})
export type BridgeDeposit = z.output<typeof BridgeDeposit>

/** The deposit in a source transaction, the number and the time of its block; read again until that block is final. */
const Source = z.object({
  deposit: BridgeDeposit,
  initiated: Timestamp,
  blockNumber: Amount.optional(),
  isFinal: z.boolean(),
  /** The block at which it was found to be final. */
  evidence: Evidence.optional(),
})
export type Source = z.output<typeof Source>

/** A search through a chain's events, block by block, as far as it has come. */
const LogSearch = z.object({
  /** The search for its first block, by time; gone when that is found. */
  start: BlockSearch.optional(),
  /** The first block that is not searched yet. */
  next: Amount.optional(),
  /** How many blocks of events the node took in one call, once it took some. */
  span: Amount.optional(),
})
export type LogSearch = z.output<typeof LogSearch>

/** The search for a fill; `early` when it starts well before the deposit, after a search that found nothing. */
const FillSearch = LogSearch.extend({ early: z.boolean() })
export type FillSearch = z.output<typeof FillSearch>

/** The search for a refund, and what it has found so far. */
const RefundSearch = LogSearch.extend({
  /** The last block that the next poll reads: one that needed more calls than the last poll had left. */
  until: Amount.optional(),
  /** Whether all blocks up to the deadline are read, so that the rivals are all there. */
  isPastDeadline: z.boolean().optional(),
  /** Other deposits of the same depositor and token that may be owed back; an empty list once it is known which are. */
  rivals: z.array(
    z.object({ relayHash: HashText, destinationChainId: z.number().int(), deadline: Amount, amount: Amount }),
  ),
  /** What the pool owes the depositor in the token, oldest deadline first, this transfer last; there once that is known. */
  debts: z.array(z.object({ deadline: Amount, amount: Amount })).optional(),
  payments: z.array(z.object({ amount: Amount, blockNumber: Amount, timestamp: Amount })),
  /** Whether there are more rivals or payments than can be told apart. */
  isCrowded: z.boolean(),
})
export type RefundSearch = z.output<typeof RefundSearch>

/** A transfer as it is stored: what was seen of it, so that the next poll costs less, and its final status. */
export const Transfer = z.object({
  /** Who sent the source transaction, with which nonce: another transaction that uses it takes this one's place. */
  sender: z.object({ address: Address, nonce: z.number().int().nonnegative() }).optional(),
  /** The head of the source chain at which another transaction was first seen in the place of the source transaction. */
  droppedAt: StoredBlock.optional(),
  source: Source.optional(),
  fillSearch: FillSearch.optional(),
  /** The transaction of its fill; read again until its block is final. */
  fillTransaction: HashText.optional(),
  /** Whether it is final that nobody filled it in time. */
  isUnfilled: z.boolean().optional(),
  refundSearch: RefundSearch.optional(),
  /** When the job looks at it next: none for one that ends or began in no client's vault, and once clients are told how it has ended. */
  lookAt: Timestamp.optional(),
  /**
   * How it has ended by blocks that are not final: the last of these, and before it those that it has replaced since clients
   * were told. `version` is another whenever one of these is.
   */
  latest: z
    .object({
      endings: z.array(TransferStatus),
      isPublished: z.boolean(),
      version: z.number().int(),
      /** In which vault it is told, where the transfer names none. */
      vault: z.object({ chainId: ChainId, address: Address }).optional(),
    })
    .optional(),
  /** The status that will never change, and the blocks that it rests on. */
  final: TransferStatus.optional(),
  evidence: EvidenceList.optional(),
})
export type Transfer = z.output<typeof Transfer>

/** Which transfer: the deposit with this index among those of a source transaction. */
export type TransferKey = { readonly sourceChainId: number; readonly transactionHash: Hash; readonly index: number }

/** A transfer and what is recorded of it. */
export type RecordedTransfer = { readonly key: TransferKey; readonly recorded: Transfer }
