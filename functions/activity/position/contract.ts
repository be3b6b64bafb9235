import * as z from 'zod'
import {
  CancelledDeposit,
  CancelledRedeemShares,
  DepositResponse,
  PositionResponse,
  shareNow,
} from '../../../lib/activity/responses.ts'
import { EvidenceList } from '../../../lib/chain/evidence.ts'
import { VaultChainIdText } from '../../../lib/chain/registry.ts'
import { Amount, SharePrice, Timestamp, UserAddress, VaultAddress } from '../../../lib/codecs.ts'
import { UPSTREAM_ERRORS } from '../../../lib/errors.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/defi/user/{userAddress}/positions/{vaultAddress}',
  title: 'Get position',
  summary: "Shows a user's position in one vault with its amounts, its latest deposits and a price history.",
  tag: 'Activity',
  caller: 'client',
  uses: { deposits: ['Query', 'BatchGetItem'], config: true },
  request: {
    path: z.object({ userAddress: UserAddress, vaultAddress: VaultAddress }),
    query: z.object({
      chainId: VaultChainIdText,
    }),
  },
  response: PositionResponse.extend({
    amounts: z
      .object({
        pendingDeposit: Amount.describe('Assets awaiting settlement'),
        claimableShares: Amount.describe('Shares ready to claim'),
        currentShares: Amount.describe('Shares in the wallet'),
        pendingRedeemShares: Amount.describe('Shares awaiting settlement'),
        claimableRedeemAssets: Amount.describe('Assets ready to claim'),
        cancelledDeposit: CancelledDeposit,
        cancelledRedeemShares: CancelledRedeemShares,
      })
      .describe('In the smallest units of asset and share'),
    vault: z
      .object({
        poolId: z.string().describe('Internal vault identifier'),
        name: z.string().describe('Display name'),
        type: z.enum(['async', 'sync']).describe('async: shares come after a settlement'),
        protocol: z.string().describe('As the list of vaults has it'),
        ...shareNow,
        depositEpochId: z
          .number()
          .int()
          .nullable()
          .describe('The epoch that takes requests now; null where the vault does not tell'),
        isTotalAssetsValid: z
          .boolean()
          .nullable()
          .describe('Whether the valuation is valid; null where the vault does not tell'),
      })
      .describe('The vault now'),
    deposits: z.array(DepositResponse).describe('The latest 20'),
    hasMore: z.boolean().describe('Whether there are more deposits than these'),
    sharePriceHistory: z.array(z.object({ timestamp: Timestamp, sharePrice: SharePrice })).describe('The last year'),
    evidence: EvidenceList,
  }),
  errors: ['ambiguous_vault_address', 'vault_not_found', 'position_not_found', ...UPSTREAM_ERRORS],
  cacheControl: 'no-store',
  impact: 'Users cannot see the details of a position.',
} as const satisfies EndpointContract
