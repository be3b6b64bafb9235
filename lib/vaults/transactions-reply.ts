import * as z from 'zod'
import { EvidenceList } from '../chain/evidence.ts'
import { ChainId } from '../chain/registry.ts'
import { SimulationResult } from '../chain/simulation-result.ts'
import { Transaction } from '../chain/transaction.ts'
import { Amount } from '../codecs.ts'
import { PROTOCOL_NAMES } from '../protocols/vault-on-chain.ts'

/** What callers are told of transactions with a vault, whatever these do. */
export const TransactionsReply = z.object({
  approval: z.array(Transaction).describe('Send these first'),
  operations: z
    .array(Transaction)
    .describe(
      'Send these after the approvals are confirmed, in order; between chains, the last one is the transfer, whose hash has the status',
    ),
  protocol: z.string().describe(PROTOCOL_NAMES.map((name) => `\`${name}\``).join(' or ')),
  chainId: ChainId.describe("The vault's"),
  estimatedGas: Amount.describe('Gas units of all transactions together'),
  isCrossChain: z.boolean().describe('Whether the last transaction is a transfer to another chain'),
  simulation: SimulationResult,
  evidence: EvidenceList,
})
