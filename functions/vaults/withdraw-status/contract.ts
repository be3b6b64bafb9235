import * as z from 'zod'
import { CancelledRedeemShares, RequestStatus } from '../../../lib/activity/responses.ts'
import { VaultChainIdText } from '../../../lib/chain/registry.ts'
import { Amount, Timestamp, UserAddress, VaultAddress } from '../../../lib/core/codecs.ts'
import { UPSTREAM_ERRORS } from '../../../lib/core/errors.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/defi/vault/{vaultAddress}/withdraw-status',
  title: 'Get withdrawal status',
  summary:
    "Returns the status of a user's withdrawal by request or with a cooldown: pending, claimable, cancelled or withdrawn.",
  tag: 'Vaults',
  caller: 'client',
  budget: 'withdrawals',
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
      .enum(['pending', 'claimable', 'cancelled', 'withdrawn', 'no_active_withdrawal'])
      .describe('Next step: wait (pending), claim (claimable), cancel again (cancelled), nothing (others)'),
    statusDescription: z.string().describe('Status as text for users'),
    claimableAt: Timestamp.nullable().describe(
      'End of the cooldown of a pending withdrawal; null without one, or if a settlement decides',
    ),
    amounts: z
      .object({
        pendingAssets: Amount.nullable().describe('Assets in a cooldown; null if a settlement decides the assets'),
        pendingRedeemShares: Amount.describe('Shares waiting for settlement, or behind the assets in a cooldown'),
        claimableAssets: Amount.describe('Assets that a claim pays'),
        claimableShares: Amount.describe('Settled shares behind the claimable assets'),
        cancelledRedeemShares: CancelledRedeemShares,
      })
      .describe('Amounts, in the smallest units of asset and share'),
    epochId: z
      .number()
      .int()
      .nullable()
      .describe("Epoch of the user's last request; null without one, or if the vault does not report it"),
    vault: z
      .object({ redeemEpochId: z.number().int().nullable().describe('Epoch that takes new requests') })
      .describe('Vault state; the epoch is null if the vault does not report it'),
  }),
  errors: ['ambiguous_vault_address', 'vault_not_found', 'withdraw_status_not_applicable', ...UPSTREAM_ERRORS],
  cacheControl: 'no-store',
  impact: 'Users cannot see whether their withdrawals are settled.',
} as const satisfies EndpointContract
