import * as z from 'zod'
import { CancelledDeposit } from '../../../lib/activity/responses.ts'
import { EstimatedSettlement } from '../../../lib/activity/settlement-waits.ts'
import { EvidenceList } from '../../../lib/chain/evidence.ts'
import { ChainId, VaultChainIdText } from '../../../lib/chain/registry.ts'
import { Address, Amount, UserAddress, VaultAddress } from '../../../lib/codecs.ts'
import { UPSTREAM_ERRORS } from '../../../lib/errors.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/defi/vault/{vaultAddress}/deposit-status',
  title: 'Get deposit status',
  summary: "Returns the status of a user's deposit into an async vault: pending, claimable or deposited.",
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
  response: z.object({
    vaultAddress: Address,
    userAddress: Address,
    chainId: ChainId,
    status: z
      .enum(['pending', 'claimable', 'cancelled', 'deposited', 'no_active_deposit'])
      .describe('What can be done now: wait, claim, cancel once more, or nothing'),
    statusDescription: z.string().describe('The status for people'),
    amounts: z
      .object({
        pendingDeposit: Amount.describe('Assets awaiting settlement'),
        claimableShares: Amount.describe('Shares ready to claim'),
        currentShares: Amount.describe('Shares in the user wallet'),
        cancelledDeposit: CancelledDeposit,
      })
      .describe('In the smallest units of asset and share'),
    vault: z
      .object({
        depositEpochId: z.number().int().nullable().describe('The epoch that takes requests now'),
        isTotalAssetsValid: z
          .boolean()
          .nullable()
          .describe('Whether the valuation is valid, so that deposits give shares at once'),
      })
      .describe('Its fields are null where the vault does not tell'),
    estimatedSettlement: EstimatedSettlement.nullable().describe(
      'How long requests wait here; null while fewer than five settlements were seen, and where none can be',
    ),
    nextPollAfterMs: z.number().int().nullable().describe('When to ask again; null when no settlement is awaited'),
    evidence: EvidenceList,
  }),
  errors: ['ambiguous_vault_address', 'vault_not_found', 'deposit_status_not_applicable', ...UPSTREAM_ERRORS],
  cacheControl: 'no-store',
  impact: 'Users cannot see whether their deposits are settled.',
} as const satisfies EndpointContract
