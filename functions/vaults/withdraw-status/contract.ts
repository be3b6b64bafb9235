import * as z from 'zod'
import { CancelledRedeemShares } from '../../../lib/activity/responses.ts'
import { EstimatedSettlement } from '../../../lib/activity/settlement-waits.ts'
import { EvidenceList } from '../../../lib/chain/evidence.ts'
import { ChainId, VaultChainIdText } from '../../../lib/chain/registry.ts'
import { Address, Amount, UserAddress, VaultAddress } from '../../../lib/codecs.ts'
import { UPSTREAM_ERRORS } from '../../../lib/errors.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/defi/vault/{vaultAddress}/withdraw-status',
  title: 'Get withdrawal status',
  summary: "Returns the status of a user's withdrawal from an async vault: pending, claimable or withdrawn.",
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
      .enum(['pending', 'claimable', 'cancelled', 'withdrawn', 'no_active_withdrawal'])
      .describe('What can be done now: wait, claim, cancel once more, or nothing'),
    statusDescription: z.string().describe('The status for people'),
    amounts: z
      .object({
        pendingRedeemShares: Amount.describe('Shares awaiting settlement'),
        claimableAssets: Amount.describe('What a claim pays'),
        claimableShares: Amount.describe('The settled shares that it is paid for'),
        cancelledRedeemShares: CancelledRedeemShares,
      })
      .describe('In the smallest units of asset and share'),
    epochId: z
      .number()
      .int()
      .nullable()
      .describe("Of the user's last request; null before there was one, and where the vault does not tell"),
    vault: z
      .object({ redeemEpochId: z.number().int().nullable().describe('The epoch that takes requests now') })
      .describe('The epoch that takes requests now; null where the vault does not tell'),
    estimatedSettlement: EstimatedSettlement.nullable().describe(
      'How long requests wait here; null while fewer than five settlements were seen, and where none can be',
    ),
    nextPollAfterMs: z.number().int().nullable().describe('When to ask again; null when no settlement is awaited'),
    evidence: EvidenceList,
  }),
  errors: ['ambiguous_vault_address', 'vault_not_found', 'withdraw_status_not_applicable', ...UPSTREAM_ERRORS],
  cacheControl: 'no-store',
  impact: 'Users cannot see whether their withdrawals are settled.',
} as const satisfies EndpointContract
