import * as z from 'zod'
import { DestinationToken } from '../../../lib/bridge/destination.ts'
import { BridgeQuote } from '../../../lib/bridge/response.ts'
import { DestinationChainId, VaultChainId } from '../../../lib/chain/registry.ts'
import { Amount, UserAddress, VaultAddress } from '../../../lib/codecs.ts'
import { WITNESS_ERRORS } from '../../../lib/errors.ts'
import { bothOrNeither, problemBeside } from '../../../lib/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { RequestKind } from '../../../lib/protocols/request-kind.ts'
import { TransactionsReply } from '../../../lib/vaults/transactions-reply.ts'

export const contract = {
  method: 'POST',
  path: '/defi-vaults/v1/defi/vault/claim',
  title: 'Prepare claim',
  summary:
    'Builds the transactions that claim what is settled in an async vault: shares of a deposit, assets of a withdrawal.',
  tag: 'Vaults',
  caller: 'client',
  uses: { cache: ['BatchGetItem', 'PutItem', 'UpdateItem'], config: true },
  request: {
    body: z
      .strictObject({
        vaultAddress: VaultAddress,
        userAddress: UserAddress,
        kind: RequestKind.default('deposit'),
        chainId: VaultChainId,
        dstChainId: DestinationChainId.optional().describe(
          "Only where the assets of a withdrawal are wanted on another chain, at the user's own address there",
        ),
        dstToken: DestinationToken,
      })
      .check(...bothOrNeither('dstChainId', 'dstToken'))
      .refine(
        ({ kind, dstChainId }) => kind !== 'deposit' || dstChainId === undefined,
        problemBeside('dstChainId', 'must be left out: the shares of a deposit are on the chain of their vault'),
      ),
  },
  response: TransactionsReply.extend({
    isAsync: z.literal(true),
    claimable: z
      .object({
        assets: Amount.describe("In the asset's smallest unit"),
        shares: Amount.describe("In the share's smallest unit"),
        remainder: Amount.optional().describe(
          "Cross-chain only: what of the assets stays with the user on the vault's chain, in their smallest unit",
        ),
      })
      .describe('Of a deposit, the assets that become shares; of a withdrawal, the shares that become assets'),
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
    ...WITNESS_ERRORS,
  ],
  cacheControl: 'no-store',
  impact: 'Users cannot claim what settled deposits and withdrawals give.',
} as const satisfies EndpointContract
