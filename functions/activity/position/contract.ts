import * as z from 'zod'
import {
  CancelledDeposit,
  CancelledRedeemShares,
  DepositResponse,
  PositionResponse,
} from '../../../lib/activity/responses.ts'
import { VaultChainIdText } from '../../../lib/chain/registry.ts'
import { Amount, Timestamp, UserAddress, VaultAddress } from '../../../lib/codecs.ts'
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
    amounts: z.object({
      pendingDeposit: Amount,
      claimableShares: Amount,
      currentShares: Amount,
      pendingRedeemShares: Amount,
      claimableRedeemAssets: Amount,
      cancelledDeposit: CancelledDeposit,
      cancelledRedeemShares: CancelledRedeemShares,
    }),
    vault: z.object({
      poolId: z.string(),
      name: z.string(),
      type: z.enum(['async', 'sync']),
      protocol: z.string(),
      apy: z.string(),
      sharePrice: Amount,
      assetSymbol: z.string(),
      assetDecimals: z.number().int(),
      depositEpochId: z.number().int().nullable(),
      isTotalAssetsValid: z.boolean().nullable(),
    }),
    deposits: z.array(DepositResponse).describe('The latest 20'),
    hasMore: z.boolean().describe('Whether there are more deposits than these'),
    sharePriceHistory: z.array(z.object({ timestamp: Timestamp, sharePrice: Amount })).describe('The last year'),
  }),
  errors: ['ambiguous_vault_address', 'vault_not_found', 'position_not_found', ...UPSTREAM_ERRORS],
  cacheControl: 'no-store',
  impact: 'Users cannot see the details of a position.',
} as const satisfies EndpointContract
