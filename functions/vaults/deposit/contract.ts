import * as z from 'zod'
import { BridgeQuote } from '../../../lib/bridge/response.ts'
import { SourceChainId, VaultChainId } from '../../../lib/chain/registry.ts'
import { Address, Amount, PositiveAmount, UserAddress, VaultAddress } from '../../../lib/core/codecs.ts'
import { AGREEMENT_ERRORS } from '../../../lib/core/errors.ts'
import { bothOrNeither, field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { TransactionsReply } from '../../../lib/prepare/transactions-reply.ts'
import { VaultTerms } from '../../../lib/protocols/terms.ts'

export const contract = {
  method: 'POST',
  path: '/defi-vaults/v1/defi/vault/deposit',
  title: 'Prepare deposit',
  summary: 'Builds the transactions that deposit into a vault: approvals first, then the operations, in order.',
  tag: 'Vaults',
  caller: 'client',
  // Quotes of deposits from other chains are stored in the deposits table.
  uses: { deposits: ['BatchGetItem', 'PutItem'], cache: ['BatchGetItem', 'PutItem', 'UpdateItem'], config: true },
  request: {
    body: z
      .strictObject({
        vaultAddress: VaultAddress,
        amount: PositiveAmount.describe("Amount above zero, in the deposit token's smallest unit"),
        userAddress: UserAddress,
        srcChainId: SourceChainId.optional().describe('Source chain; only for deposits from another chain'),
        srcToken: field(Address, 'missing_or_invalid_src_token')
          .optional()
          .describe(
            'Required with srcChainId: the same asset there. Compare `coinKey` in `GET /portfolio-indexor/markets` (USDC.e is not USDC; on BNB Smart Chain WETH is ETH). For WETH also the coin itself, on chains whose coin is ETH: `0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE`. Then `value` is the amount, there is no approval, and a refund is in WETH',
          ),
        chainId: VaultChainId,
      })
      .check(...bothOrNeither('srcChainId', 'srcToken')),
  },
  response: TransactionsReply.extend({
    isAsync: z.boolean().describe('True if deposits need a settlement before shares are available'),
    deposit: z
      .object({
        shares: Amount.nullable().describe(
          "Shares that the user gets, in the share's smallest unit; null if the vault has no price now",
        ),
        assets: Amount.describe("Assets that the vault takes, in the asset's smallest unit"),
        fee: Amount.nullable().describe("Entry fee, in the asset's smallest unit; null like `shares`"),
        isEstimate: z
          .boolean()
          .describe(
            'True if the figures can change: a settlement sets the price later, no dry run was possible, the money comes from another chain, or two nodes differ slightly',
          ),
      })
      .describe('Result of the deposit'),
    terms: VaultTerms,
    quote: BridgeQuote.optional().describe('Cross-chain only'),
  }),
  errors: [
    'chain_not_allowed',
    'vault_not_allowed',
    'deposit_limit_exceeded',
    'unsupported_source_chain',
    'unsupported_source_token',
    'amount_too_low_for_bridge',
    'amount_too_high_for_bridge',
    'cross_chain_not_available',
    'ambiguous_vault_address',
    'vault_not_found',
    'vault_has_changed',
    'vault_is_paused',
    'vault_is_closed',
    'deposits_are_not_open',
    'unsupported_vault_version',
    'previous_deposit_request_not_settled',
    'vault_cap_reached',
    'depositor_not_allowed',
    'too_many_requests',
    ...AGREEMENT_ERRORS,
  ],
  cacheControl: 'no-store',
  impact: 'Users cannot deposit into vaults.',
} as const satisfies EndpointContract
