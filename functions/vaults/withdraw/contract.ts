import * as z from 'zod'
import { DestinationToken } from '../../../lib/bridge/destination.ts'
import { BridgeQuote } from '../../../lib/bridge/response.ts'
import { DestinationChainId, VaultChainId } from '../../../lib/chain/registry.ts'
import { Amount, PositiveAmount, UserAddress, VaultAddress } from '../../../lib/codecs.ts'
import { WITNESS_ERRORS } from '../../../lib/errors.ts'
import { bothOrNeither, field, whereFit } from '../../../lib/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { TransactionsReply } from '../../../lib/vaults/transactions-reply.ts'

/** Of these fields exactly one is given. */
const AMOUNTS = ['amount', 'shares', 'max']

export const contract = {
  method: 'POST',
  path: '/defi-vaults/v1/defi/vault/withdraw',
  title: 'Prepare withdrawal',
  summary: 'Builds the transactions that withdraw from a vault: by assets, by shares, or everything.',
  tag: 'Vaults',
  caller: 'client',
  uses: { cache: ['BatchGetItem', 'PutItem', 'UpdateItem'], config: true },
  request: {
    body: z
      .strictObject({
        vaultAddress: VaultAddress,
        userAddress: UserAddress,
        amount: PositiveAmount.optional().describe(
          "What is to be paid, in the vault asset's smallest unit; this, `shares` or `max`",
        ),
        shares: PositiveAmount.optional().describe(
          'Shares to give up, in their smallest unit; this, `amount` or `max`',
        ),
        max: field(z.literal(true), 'missing_or_invalid_amount')
          .optional()
          .describe('Everything; this, `amount` or `shares`'),
        chainId: VaultChainId,
        dstChainId: DestinationChainId.optional().describe(
          "Only where the tokens are wanted on another chain, at the user's own address there; the vault must pay at once",
        ),
        dstToken: DestinationToken,
      })
      .check(...bothOrNeither('dstChainId', 'dstToken'))
      .refine((body) => [body.amount, body.shares, body.max].filter((given) => given !== undefined).length === 1, {
        path: ['amount'],
        message: 'must be given, or shares, or max: one of the three',
        when: whereFit(...AMOUNTS),
      }),
  },
  response: TransactionsReply.extend({
    isAsync: z.boolean().describe('True when the vault pays only after a settlement'),
    withdrawal: z
      .object({
        shares: Amount.describe("What leaves the user, in the share's smallest unit"),
        assets: Amount.nullable().describe(
          "What is paid for them, in the vault asset's smallest unit; null where the vault tells no price now",
        ),
        fee: Amount.nullable().describe(
          "What the vault keeps of what the shares are worth: fees, and a haircut for being paid at once; in the asset's smallest unit; null as `assets`",
        ),
        haircut: Amount.describe("The part of the fee that is the haircut, in the asset's smallest unit"),
        isEstimate: z
          .boolean()
          .describe('True where a settlement decides what is paid, at its own price, or no dry run could tell'),
        claimedAssets: Amount.describe(
          "What settled withdrawals pay besides, which the vault pays along with this one; in the asset's smallest unit",
        ),
        remainder: Amount.optional().describe(
          "Cross-chain only: what of all that is paid stays with the user on the vault's chain, in the asset's smallest unit",
        ),
      })
      .describe('What it comes to'),
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
    ...WITNESS_ERRORS,
  ],
  cacheControl: 'no-store',
  impact: 'Users cannot withdraw from vaults.',
} as const satisfies EndpointContract
