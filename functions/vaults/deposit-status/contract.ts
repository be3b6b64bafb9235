import * as z from 'zod'
import { CancelledDepositAssets, RequestStatus } from '../../../lib/activity/responses.ts'
import { VaultChainIdText } from '../../../lib/chain/registry.ts'
import { Amount, UserAddress, VaultAddress } from '../../../lib/core/codecs.ts'
import { UPSTREAM_ERRORS } from '../../../lib/core/errors.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/defi/vault/{vaultAddress}/deposit-status',
  title: 'Get deposit status',
  summary: "Returns the status of a user's deposit by request: pending, claimable, cancelled or deposited.",
  tag: 'Vaults',
  caller: 'client',
  uses: { deposits: ['Query', 'BatchGetItem'], config: true },
  request: {
    path: z.object({ vaultAddress: VaultAddress }),
    query: z.object({
      userAddress: UserAddress,
      chainId: VaultChainIdText,
    }),
  },
  response: RequestStatus.extend({
    status: z
      .enum(['pending', 'claimable', 'cancelled', 'deposited', 'no_active_deposit'])
      .describe('Next step: wait (pending), claim (claimable), cancel again (cancelled), nothing (others)'),
    statusDescription: z.string().describe('Status as text for users'),
    amounts: z
      .object({
        pendingDeposit: Amount.describe('Assets waiting for settlement'),
        claimableShares: Amount.describe('Shares ready to claim'),
        currentShares: Amount.describe("Shares in the user's wallet"),
        cancelledDeposit: CancelledDepositAssets,
      })
      .describe('Amounts, in the smallest units of asset and share'),
    vault: z
      .object({
        depositEpochId: z.number().int().nullable().describe('Epoch that takes new requests'),
        isTotalAssetsValid: z
          .boolean()
          .nullable()
          .describe('True if the valuation is valid: deposits then give shares instantly'),
      })
      .describe('Vault state; a field is null if the vault does not report it'),
  }),
  errors: ['ambiguous_vault_address', 'vault_not_found', 'deposit_status_not_applicable', ...UPSTREAM_ERRORS],
  cacheControl: 'no-store',
  impact: 'Users cannot see whether their deposits are settled.',
} as const satisfies EndpointContract
