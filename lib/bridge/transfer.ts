import { type Hash, type Hex, isHash, isHex } from 'viem'
import * as z from 'zod'
import { evmChain } from '../chain/registry.ts'
import { Amount, Timestamp, TransactionHash } from '../codecs.ts'

const HexText = z.string().refine((text): text is Hex => isHex(text))
const HashText = z.string().refine((text): text is Hash => isHash(text))

/** Why a transfer failed. */
const FailureReason = z.enum([
  'source_reverted',
  'no_deposit_in_transaction',
  'expired',
  'refunded',
  'destination_action_failed',
])

const ChainName = z.object({ id: z.number().int(), name: z.string() })

/** Where a deposit from another chain stands. What is not known is null. */
export const TransferStatus = z.object({
  depositId: TransactionHash.describe('The source transaction hash'),
  status: z.enum(['pending', 'bridging', 'completed', 'failed']),
  statusDescription: z.string(),
  reason: FailureReason.nullable().describe('Why it failed'),
  terminal: z.boolean().describe('Whether this is the last answer'),
  nextPollAfterMs: z.number().int().nullable().describe('When to ask again; null when terminal'),
  srcChain: ChainName,
  dstChain: ChainName.nullable(),
  inputAmount: Amount.nullable().describe("In the source token's smallest unit"),
  outputAmount: Amount.nullable().describe(
    'What arrived; when the deposit on the destination failed, what the user received as tokens',
  ),
  timestamps: z.object({
    initiated: Timestamp.nullable(),
    bridged: Timestamp.nullable(),
    completed: Timestamp.nullable(),
  }),
  transactions: z.object({ source: TransactionHash, fill: TransactionHash.nullable() }),
})
export type TransferStatus = z.output<typeof TransferStatus>

const Deposit = z.object({
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

/** A transfer as we keep it: what was seen of it, so that the next question costs less, and its last answer. */
export const Transfer = z.object({
  /** The deposit and the time of its block; looked at again until that block is final. */
  source: z.object({ deposit: Deposit, initiated: Timestamp, isFinal: z.boolean() }).optional(),
  /** The transaction of its fill; looked at again until its block is final. */
  fillTransaction: HashText.optional(),
  /** The answer that will never change. */
  final: TransferStatus.optional(),
})
export type Transfer = z.output<typeof Transfer>

/** Which transfer: the deposit with this index among those of a source transaction. */
export type TransferKey = { readonly sourceChainId: number; readonly transactionHash: Hash; readonly index: number }

/** A chain as answers name it; null for one that is none of ours. */
export function namedChain(id: number): { id: number; name: string } | null {
  const chain = evmChain(id)
  return chain ? { id, name: chain.name } : null
}
