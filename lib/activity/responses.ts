import * as z from 'zod'
import { EvidenceList } from '../chain/evidence.ts'
import { ChainId, ChainIdText } from '../chain/registry.ts'
import { Address, Amount, SignedAmount, Timestamp, VaultAddress } from '../core/codecs.ts'
import { field } from '../core/field.ts'
import { Page, PageCursor, PageLimit } from '../core/page.ts'
import type { Growth } from '../vaults/apy.ts'
import { EstimatedSettlement } from '../vaults/settlement-waits.ts'
import type { AccountVault } from './account-vaults.ts'
import { buildPriceAndYield, priceAndYieldFields, vaultAndAccountFields } from './entry-responses.ts'
import { HistoryStatus } from './ledger-entry.ts'
import type { Position } from './position.ts'

/** Common response fields of a deposit status and a withdrawal status. */
export const RequestStatus = z.object({
  vaultAddress: Address,
  userAddress: Address,
  chainId: ChainId,
  estimatedSettlement: EstimatedSettlement.nullable().describe(
    'Usual wait for a settlement; null below five known settlements, or without settlements',
  ),
  missedSettlements: z
    .number()
    .int()
    .nullable()
    .describe(
      'Final settlements that included the pending request and did not settle it, up to 100; null without one, or if the vault does not report settlements',
    ),
  nextPollAfterMs: z
    .number()
    .int()
    .nullable()
    .describe('Milliseconds until the next poll; null if no settlement is awaited'),
  evidence: EvidenceList,
})

export const CancelledDepositAssets = Amount.describe(
  'Assets of cancelled deposit requests, which another cancellation returns',
)
export const CancelledRedeemShares = Amount.describe(
  'Shares of cancelled redemption requests, which another cancellation returns',
)

/** Position in API responses. */
export const PositionResponse = z
  .object({
    ...vaultAndAccountFields,
    ...priceAndYieldFields,
    totalDepositedAssets: Amount.describe(
      "Deposits not cancelled, plus shares received at their value then; in the asset's smallest unit",
    ),
    totalWithdrawnAssets: Amount.describe(
      "Assets withdrawn, plus shares sent at their value then; in the asset's smallest unit",
    ),
    currentShares: Amount.describe("Shares in the wallet, in the share's smallest unit"),
    currentValue: Amount.describe(
      "Value of everything the user has in the vault, in the asset's smallest unit. Includes pending, claimable and redeemed amounts, and cancelled ones not returned yet",
    ),
    earnedAssets: SignedAmount.describe(
      "currentValue + totalWithdrawnAssets - totalDepositedAssets, in the asset's smallest unit; can be negative",
    ),
    depositCount: z.number().int().describe('Number of deposits not cancelled'),
    startDate: Timestamp,
    lastDepositDate: Timestamp,
    statusBreakdown: z
      .object({
        pending: z.number().int().describe('Deposits waiting for settlement'),
        claimable: z.number().int().describe('Deposits ready to claim'),
        completed: z.number().int().describe('Completed deposits'),
      })
      .describe('Number of deposits by status'),
  })
  .meta({ id: 'Position', description: "A user's deposits, withdrawals, holdings and earnings in a vault" })

/** Reasons why a response omits vaults, by chain id. */
export const ChainErrors = z
  .record(z.string(), z.string())
  .optional()
  .describe('Reasons why the list omits vaults, all or some of a chain, by chain id')

/** Query parameters for a list of deposits or withdrawals. */
export const HistoryQuery = z.object({
  limit: PageLimit.default(50).describe('Page size, 1 to 100'),
  cursor: PageCursor,
  vaultAddress: VaultAddress.optional().describe('Only this vault'),
  chainId: ChainIdText.optional().describe('Only this chain'),
  status: field(HistoryStatus, 'invalid_status').optional().describe('Only this status'),
})

/** Response fields of a page of deposits or withdrawals, other than its items. */
export const HistoryPage = z.object({
  userAddress: Address,
  ...Page.shape,
  errors: ChainErrors,
  evidence: EvidenceList,
})

/** Builds the API response for a position. */
export function buildPositionResponse(
  ofVault: AccountVault,
  { deposits: _, ...position }: Position,
  { account, annualYield }: { account: z.output<typeof Address>; annualYield: Growth | null },
): z.output<typeof PositionResponse> {
  const { vault, live } = ofVault
  return {
    vaultAddress: vault.address,
    vaultName: vault.name,
    userAddress: account,
    chainId: vault.chainId,
    ...buildPriceAndYield(ofVault, annualYield),
    currentShares: live.shares,
    ...position,
  }
}
