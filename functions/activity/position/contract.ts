import * as z from 'zod'
import { DepositResponse, priceAndYieldFields } from '../../../lib/activity/entry-responses.ts'
import { CancelledDepositAssets, CancelledRedeemShares, PositionResponse } from '../../../lib/activity/responses.ts'
import { EvidenceList } from '../../../lib/chain/evidence.ts'
import { VaultChainIdText } from '../../../lib/chain/registry.ts'
import { Address, Amount, SharePrice, Timestamp, UserAddress, VaultAddress } from '../../../lib/core/codecs.ts'
import { UPSTREAM_ERRORS } from '../../../lib/core/errors.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/defi/user/{userAddress}/positions/{vaultAddress}',
  title: 'Get position',
  summary: "Returns a user's position in one vault with its amounts, latest deposits and a price history.",
  tag: 'Activity',
  caller: 'client',
  uses: { deposits: ['Query', 'BatchGetItem'], cache: ['BatchGetItem'], config: true },
  request: {
    path: z.object({ userAddress: UserAddress, vaultAddress: VaultAddress }),
    query: z.object({
      chainId: VaultChainIdText,
    }),
  },
  response: PositionResponse.extend({
    amounts: z
      .object({
        pendingDeposit: Amount.describe('Assets waiting for settlement'),
        claimableShares: Amount.describe('Shares ready to claim'),
        currentShares: Amount.describe('Shares in the wallet'),
        pendingRedeemShares: Amount.describe('Shares waiting for settlement'),
        claimableRedeemAssets: Amount.describe('Assets ready to claim'),
        cancelledDeposit: CancelledDepositAssets,
        cancelledRedeemShares: CancelledRedeemShares,
      })
      .describe('Amounts, in the smallest units of asset and share'),
    vault: z
      .object({
        poolId: z.string().describe('Internal vault identifier'),
        name: z.string().describe('Display name'),
        type: z.enum(['async', 'sync']).describe('async: shares come after a settlement'),
        protocol: z.string().describe('Protocol, as in the list of vaults'),
        ...priceAndYieldFields,
        depositEpochId: z
          .number()
          .int()
          .nullable()
          .describe('Epoch that takes new requests; null if the vault does not report it'),
        isTotalAssetsValid: z
          .boolean()
          .nullable()
          .describe('True if the valuation is valid; null if the vault does not report it'),
      })
      .describe('Current state of the vault'),
    rewards: z
      .array(z.object({ token: Address, claimed: Amount.describe("Paid, in the token's smallest unit") }))
      .nullable()
      .describe(
        "Minimum that campaigns of the vault have paid, as Merkl attributes it; not part of earnedAssets. Null if `GET …/rewards` has not read the user's rewards within a day",
      ),
    deposits: z.array(DepositResponse).describe('Latest 20 deposits'),
    hasMore: z.boolean().describe('True if there are more deposits'),
    sharePriceHistory: z
      .array(z.object({ timestamp: Timestamp, sharePrice: SharePrice }))
      .describe('First share price of each day (UTC) of the last year, and the price now'),
    evidence: EvidenceList,
  }),
  errors: ['ambiguous_vault_address', 'vault_not_found', 'position_not_found', ...UPSTREAM_ERRORS],
  cacheControl: 'no-store',
  impact: 'Users cannot see the details of a position.',
} as const satisfies EndpointContract
