import * as z from 'zod'
import { DestinationToken } from '../../../lib/bridge/destination.ts'
import { BridgeQuote } from '../../../lib/bridge/response.ts'
import { DestinationChainId, VaultChainId } from '../../../lib/chain/registry.ts'
import { Amount, PositiveAmount, Timestamp, UserAddress, VaultAddress } from '../../../lib/core/codecs.ts'
import { AGREEMENT_ERRORS } from '../../../lib/core/errors.ts'
import { bothOrNeither, createFieldsCondition, field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { TransactionsReply } from '../../../lib/prepare/transactions-reply.ts'

/** The request body must contain exactly one of these fields. */
const AMOUNTS = ['amount', 'shares', 'max']

export const contract = {
  method: 'POST',
  path: '/defi-vaults/v1/defi/vault/withdraw',
  title: 'Prepare withdrawal',
  summary: 'Builds the transactions that withdraw from a vault, by assets, by shares or everything.',
  tag: 'Vaults',
  caller: 'client',
  budget: 'withdrawals',
  uses: { deposits: ['PutItem'], cache: ['BatchGetItem', 'PutItem', 'UpdateItem'], config: true },
  request: {
    body: z
      .strictObject({
        vaultAddress: VaultAddress,
        userAddress: UserAddress,
        amount: PositiveAmount.optional().describe(
          "Assets to receive, in the asset's smallest unit; use one of `amount`, `shares`, `max`",
        ),
        shares: PositiveAmount.optional().describe(
          'Shares to redeem, in their smallest unit; use one of `amount`, `shares`, `max`',
        ),
        max: field(z.literal(true), 'missing_or_invalid_amount')
          .optional()
          .describe('Everything the user has; use one of `amount`, `shares`, `max`'),
        chainId: VaultChainId,
        dstChainId: DestinationChainId.optional().describe(
          "Other chain for the assets, at the user's own address; only for vaults that pay instantly",
        ),
        dstToken: DestinationToken,
      })
      .check(...bothOrNeither('dstChainId', 'dstToken'))
      .refine((body) => [body.amount, body.shares, body.max].filter((given) => given !== undefined).length === 1, {
        path: ['amount'],
        message: 'must be given, unless shares or max is: send exactly one of the three',
        when: createFieldsCondition(...AMOUNTS),
      }),
  },
  response: TransactionsReply.extend({
    isAsync: z.boolean().describe('True if the vault pays only after a settlement or a cooldown'),
    withdrawal: z
      .object({
        shares: Amount.describe("Shares redeemed, in the share's smallest unit"),
        assets: Amount.nullable().describe(
          "Assets paid, in the asset's smallest unit; null if the vault has no price now",
        ),
        fee: Amount.nullable().describe(
          "Fees and the haircut for instant payment, in the asset's smallest unit; null like `assets`",
        ),
        haircut: Amount.describe("Haircut part of the fee, in the asset's smallest unit"),
        isEstimate: z
          .boolean()
          .describe(
            'True if the figures can change: a settlement sets the price later, no dry run was possible, or two nodes differ slightly',
          ),
        claimedAssets: Amount.describe(
          "Assets of earlier, settled withdrawals, paid along with this one; in the asset's smallest unit",
        ),
        prolongs: z
          .object({
            assets: Amount.describe("Assets that are already waiting, in the asset's smallest unit"),
            claimableAt: Timestamp.describe('Time when they could be claimed without this withdrawal'),
          })
          .nullable()
          .describe('Earlier withdrawal whose cooldown this one restarts; null without one'),
        remainder: Amount.optional().describe(
          "Cross-chain only: paid assets that stay on the vault's chain, in the asset's smallest unit",
        ),
      })
      .describe('Result of the withdrawal'),
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
    'amount_exceeds_balance',
    'vault_is_paused',
    'vault_is_closing',
    'unsupported_vault_version',
    'previous_withdrawal_request_not_settled',
    'not_enough_liquidity',
    'withdrawal_refused',
    'depositor_not_allowed',
    'too_many_requests',
    ...AGREEMENT_ERRORS,
  ],
  cacheControl: 'no-store',
  impact: 'Users cannot withdraw from vaults.',
} as const satisfies EndpointContract
