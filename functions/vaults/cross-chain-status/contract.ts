import * as z from 'zod'
import { TransferStatus } from '../../../lib/bridge/transfer.ts'
import { EvidenceList } from '../../../lib/chain/evidence.ts'
import { BridgedChainIdText } from '../../../lib/chain/registry.ts'
import { numberText, TransactionHash, UserAddress } from '../../../lib/core/codecs.ts'
import { UPSTREAM_ERRORS } from '../../../lib/core/errors.ts'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/defi/cross-chain/{txHash}/status',
  aliases: ['/defi-vaults/v1/defi/cross-chain/status'],
  title: 'Get transfer status',
  summary:
    'Returns the status of a transfer between chains. It follows a deposit to the shares or the deposit request, and a withdrawal to the tokens.',
  tag: 'Vaults',
  caller: 'client',
  uses: {
    deposits: ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'],
    cache: ['BatchGetItem', 'PutItem'],
    config: true,
  },
  request: {
    path: z.object({
      txHash: field(TransactionHash, { missing: 'missing_tx_hash', invalid: 'invalid_tx_hash' }).describe(
        'Source chain transaction hash, or the hash of a user operation (ERC-4337)',
      ),
    }),
    query: z.object({
      srcChainId: BridgedChainIdText.describe('Chain of that transaction'),
      userAddress: UserAddress.optional().describe(
        'Account that made the transfer. Required to choose among the transfers of a bundle',
      ),
      index: field(numberText(0, 49), 'invalid_index')
        .default(0)
        .describe("Index of the transfer in the transaction, or among the user's, from 0 to 49"),
    }),
  },
  response: z.intersection(
    TransferStatus,
    z.object({
      protocol: z.string().nullable().describe('Target protocol, if known'),
      evidence: EvidenceList,
      transfers: z
        .array(TransferStatus)
        .describe("All transfers of the transaction, or the user's; the first is the one above"),
    }),
  ),
  errors: UPSTREAM_ERRORS,
  cacheControl: 'no-store',
  impact: 'Users cannot see the status of their transfers between chains.',
} as const satisfies EndpointContract
