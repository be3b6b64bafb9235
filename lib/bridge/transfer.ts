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
  no_deposit_in_transaction: 'it holds no deposit into the bridge with this index; where that is 0, nothing was sent',
  source_dropped: 'it can no longer be mined, for another one took its nonce; nothing was sent',
  expired:
    'nobody filled it in time, and its refund on the source chain is awaited or searched for; goes on to refunded or refund_not_found',
  refunded: 'the bridge paid it back on the source chain',
  refund_not_found: 'two weeks after its deadline no refund was found that is surely its own',
  destination_action_failed:
    'it arrived, the deposit into the vault did not succeed, and the tokens were sent to the account that the transfer names for this case',
  destination_not_followed: 'its status stays bridging, for it goes to a chain that this service does not read',
}
// The keys of an object are strings, of which its type says which.
const Reason = z.enum(Object.keys(REASONS) as (keyof typeof REASONS)[])
const ABOUT_REASONS = [
  'Why it failed, or why nothing more will be told of it; null for all else',
  ...Object.entries(REASONS).map(([reason, meaning]) => `${reason}: ${meaning}`),
].join('. ')

const ChainName = z
  .object({ id: z.number().int().describe('Chain id'), name: z.string().describe('What people call it') })
  .meta({ id: 'ChainName', description: 'A chain by its id and name' })

/** Where a deposit from another chain stands, or a withdrawal to one. What is not known is null. */
export const TransferStatus = z
  .object({
    depositId: TransactionHash.describe('The source transaction hash'),
    status: z
      .enum(['pending', 'bridging', 'completed', 'failed'])
      .describe(
        'pending: not mined yet. bridging: the deposit into the bridge is there; not terminal, but with destination_not_followed. completed: terminal. failed: terminal, but with expired',
      ),
    statusDescription: z.string().describe('The status for people'),
    reason: Reason.nullable().describe(ABOUT_REASONS),
    action: z
      .enum(['deposit', 'none'])
      .nullable()
      .describe(
        'What happens on the destination: a deposit into a vault, or none, when the funds are only delivered; null until the deposit into the bridge is seen',
      ),
    terminal: z.boolean().describe('Whether nothing more is expected: stop polling'),
    final: z
      .boolean()
      .describe(
        'Of the transfer: whether its blocks are final on both chains, after which it is told the same for ever; only where terminal, mostly some minutes later',
      ),
    nextPollAfterMs: z.number().int().nullable().describe('When to ask again; null when terminal'),
    srcChain: ChainName,
    dstChain: ChainName.nullable().describe('Null until the deposit into the bridge is seen'),
    inputAmount: Amount.nullable().describe("In the source token's smallest unit"),
    outputAmount: Amount.nullable().describe(
      "What arrived, in the destination token's smallest unit; when the deposit on the destination failed, what the user received as tokens",
    ),
    timestamps: z
      .object({
        initiated: Timestamp.nullable(),
        bridged: Timestamp.nullable(),
        completed: Timestamp.nullable(),
      })
      .describe('When it was sent, when it arrived, and when its action was done; null before'),
    transactions: z
      .object({ source: TransactionHash, fill: TransactionHash.nullable() })
      .describe('The one that sent, and the one that filled it on the other chain; null before'),
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
