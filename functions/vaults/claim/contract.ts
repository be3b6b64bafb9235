import * as z from 'zod'
import { DestinationToken } from '../../../lib/bridge/destination.ts'
import { BridgeQuote } from '../../../lib/bridge/response.ts'
import { DestinationChainId, VaultChainId } from '../../../lib/chain/registry.ts'
import { Amount, UserAddress, VaultAddress } from '../../../lib/core/codecs.ts'
import { AGREEMENT_ERRORS } from '../../../lib/core/errors.ts'
import { bothOrNeither, buildSiblingIssue } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { TransactionsReply } from '../../../lib/prepare/transactions-reply.ts'
import { RequestKind } from '../../../lib/protocols/request-kind.ts'

export const contract = {
  method: 'POST',
  path: '/defi-vaults/v1/defi/vault/claim',
  title: 'Prepare claim',
  summary:
    "Builds the transactions that claim a deposit's shares or a withdrawal's assets, after its settlement or cooldown.",
  tag: 'Vaults',
  caller: 'client',
  budget: 'withdrawals',
  uses: { deposits: ['PutItem'], cache: ['BatchGetItem', 'PutItem', 'UpdateItem'], config: true },
  request: {
    body: z
      .strictObject({
        vaultAddress: VaultAddress,
        userAddress: UserAddress,
        kind: RequestKind.default('deposit'),
        chainId: VaultChainId,
        dstChainId: DestinationChainId.optional().describe(
          "Other chain for a withdrawal's assets; they go to the user's own address there",
        ),
        dstToken: DestinationToken,
      })
      .check(...bothOrNeither('dstChainId', 'dstToken'))
      .refine(
        ({ kind, dstChainId }) => kind !== 'deposit' || dstChainId === undefined,
        buildSiblingIssue('dstChainId', "must be left out: a deposit's shares stay on the vault's chain"),
      ),
  },
  response: TransactionsReply.extend({
    isAsync: z.literal(true),
    claimable: z
      .object({
        assets: Amount.describe("Assets, in the asset's smallest unit"),
        shares: Amount.nullable().describe(
          "Shares, in the share's smallest unit; null for a withdrawal after a cooldown, whose shares are already burned",
        ),
        remainder: Amount.optional().describe(
          "Cross-chain only: assets that stay on the vault's chain, in their smallest unit",
        ),
      })
      .describe(
        'Claimed amounts: assets of a deposit that become shares, or shares of a withdrawal that become assets',
      ),
    quote: BridgeQuote.optional().describe('Cross-chain only'),
  }),
  errors: [
    'unsupported_destination_chain',
    'unsupported_destination_token',
    'amount_too_low_for_bridge',
    'amount_too_high_for_bridge',
    'cross_chain_not_available',
    'ambiguous_vault_address',
    'vault_not_found',
    'claim_not_applicable',
    'no_claimable_deposit',
    'no_claimable_withdrawal',
    'vault_is_paused',
    'withdrawal_refused',
    'depositor_not_allowed',
    'too_many_requests',
    ...AGREEMENT_ERRORS,
  ],
  cacheControl: 'no-store',
  impact: 'Users cannot claim settled deposits and withdrawals.',
} as const satisfies EndpointContract
