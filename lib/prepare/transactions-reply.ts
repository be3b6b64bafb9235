import * as z from 'zod'
import { EvidenceList } from '../chain/evidence.ts'
import { ChainId } from '../chain/registry.ts'
import { SimulationResult } from '../chain/simulation-result.ts'
import { ChainTransaction, WalletCalls } from '../chain/transaction.ts'
import { Amount } from '../core/codecs.ts'
import { PROTOCOL_NAMES } from '../protocols/vault-on-chain.ts'

/** API response with the transactions of a deposit, withdrawal, claim or cancellation, for the user to sign. */
export const TransactionsReply = z.object({
  approval: z.array(ChainTransaction).describe('Send these first'),
  operations: z
    .array(ChainTransaction)
    .describe(
      'Send these in order, once the approvals are confirmed. Between chains the last one is the transfer: use its hash for the status',
    ),
  calls: WalletCalls.describe('All transactions in order, as the parameter of `wallet_sendCalls` (EIP-5792)'),
  protocol: z.string().describe(PROTOCOL_NAMES.map((name) => `\`${name}\``).join(' or ')),
  chainId: ChainId.describe('Chain of the vault'),
  estimatedGas: Amount.describe('Gas units of all transactions together'),
  isCrossChain: z.boolean().describe('True if the last transaction is a transfer to another chain'),
  simulation: SimulationResult,
  evidence: EvidenceList,
})
