import * as z from 'zod'
import { VaultChainId } from '../../../lib/chain/registry.ts'
import { ChainTransaction } from '../../../lib/chain/transaction.ts'
import { Amount, UserAddress, VaultAddress } from '../../../lib/core/codecs.ts'
import { AGREEMENT_ERRORS } from '../../../lib/core/errors.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { TransactionsReply } from '../../../lib/prepare/transactions-reply.ts'
import { RequestKind } from '../../../lib/protocols/request-kind.ts'

export const contract = {
  method: 'POST',
  path: '/defi-vaults/v1/defi/vault/cancel',
  title: 'Prepare cancellation',
  summary:
    "Builds the transaction that cancels a user's pending deposit or withdrawal request. A withdrawal with a cooldown cannot be cancelled.",
  tag: 'Vaults',
  caller: 'client',
  budget: 'withdrawals',
  uses: { deposits: ['Query', 'BatchGetItem'], config: true },
  request: {
    body: z.strictObject({
      vaultAddress: VaultAddress,
      userAddress: UserAddress,
      kind: RequestKind.default('deposit'),
      chainId: VaultChainId,
    }),
  },
  response: TransactionsReply.extend({
    approval: z.array(ChainTransaction).describe('Always empty'),
    isCrossChain: z.literal(false).describe("Always false: requests stay on the vault's chain"),
    isAsync: z.boolean().describe('True if a second cancellation must collect the returned tokens later'),
    cancelled: z
      .union([z.strictObject({ assets: Amount }), z.strictObject({ shares: Amount })])
      .describe("Returned amount: a deposit's assets or a withdrawal's shares"),
  }),
  errors: [
    'ambiguous_vault_address',
    'vault_not_found',
    'cancel_not_applicable',
    'no_pending_request',
    'vault_is_paused',
    'request_can_no_longer_be_cancelled',
    'depositor_not_allowed',
    ...AGREEMENT_ERRORS,
  ],
  cacheControl: 'no-store',
  impact: 'Users cannot cancel pending requests.',
} as const satisfies EndpointContract
