import * as z from 'zod'
import { TransferStatus } from '../../../lib/bridge/transfer.ts'
import { BridgedChainIdText } from '../../../lib/chain/registry.ts'
import { numberText, TransactionHash } from '../../../lib/codecs.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { ChainsEnv, ClientsEnv, DepositsEnv } from '../../../lib/frame/env.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/defi/cross-chain/{txHash}/status',
  aliases: ['/defi-vaults/v1/defi/cross-chain/status'],
  summary:
    'Says where a deposit from another chain stands, from its source transaction to the shares or their request.',
  tag: 'Vaults',
  caller: 'client',
  env: z.object({ ...ClientsEnv.shape, ...DepositsEnv.shape, ...ChainsEnv.shape }),
  request: {
    path: z.object({ txHash: TransactionHash.describe('Source chain transaction hash') }),
    query: z.object({
      srcChainId: BridgedChainIdText.describe('The chain of that transaction'),
      index: numberText(0, 49)
        .default(0)
        .describe('Which of several deposits in the transaction, counting from 0; at most 49'),
    }),
  },
  invalid: {
    txHash: { missing: 'missing_tx_hash', invalid: 'invalid_tx_hash' },
    srcChainId: {
      missing: 'missing_src_chain_id',
      invalid: 'invalid_src_chain_id',
      unsupported: 'unsupported_src_chain_id',
    },
    index: 'invalid_index',
  },
  response: TransferStatus.extend({ protocol: z.string().nullable().describe('Target protocol, if known') }),
  errors: ['upstream_bad_answer', 'upstream_unavailable', 'upstream_timeout'],
  cacheControl: 'no-store',
  impact: 'Users cannot see where their deposits from other chains stand.',
} as const satisfies EndpointContract
