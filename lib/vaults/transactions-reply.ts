import * as z from 'zod'
import { EvidenceList } from '../chain/evidence.ts'
import { ChainId } from '../chain/registry.ts'
import { SimulationResult } from '../chain/simulation-result.ts'
import { ChainTransaction, WalletCalls } from '../chain/transaction.ts'
import { Amount } from '../codecs.ts'
import { PROTOCOL_NAMES } from '../protocols/vault-on-chain.ts'

/** What callers are told of transactions with a vault, whatever these do. */
export const TransactionsReply = z.object({
  approval: z.array(ChainTransaction).describe('Send these first'),
  operations: z
    .array(ChainTransaction)
    .describe(
      'Send these after the approvals are confirmed, in order; between chains, the last one is the transfer, whose hash has the status',
    ),
  calls: WalletCalls.describe('All of these, in order, as one parameter of `wallet_sendCalls` (EIP-5792)'),
  link: z
    .string()
    .nullable()
    .describe('The one transaction as an EIP-681 link; null where there are several, or no link can say it'),
  protocol: z.string().describe(PROTOCOL_NAMES.map((name) => `\`${name}\``).join(' or ')),
  chainId: ChainId.describe("The vault's"),
  estimatedGas: Amount.describe('Gas units of all transactions together'),
  isCrossChain: z.boolean().describe('Whether the last transaction is a transfer to another chain'),
  simulation: SimulationResult,
  evidence: EvidenceList,
})
