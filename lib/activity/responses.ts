import * as z from 'zod'
import { EvidenceList } from '../chain/evidence.ts'
import { ChainId, ChainIdText } from '../chain/registry.ts'
import { Address, Amount, SharePrice, SignedAmount, Timestamp, TransactionHash, VaultAddress } from '../codecs.ts'
import { field } from '../field.ts'
import { Page, PageCursor, PageLimit } from '../page.ts'
import { Yield, yieldText } from '../vaults/apy.ts'
import type { AccountVault } from './account-vaults.ts'
import type { Deposit } from './history.ts'
import { buildEntryId, DepositSource, HistoryStatus } from './ledger-entry.ts'
import type { Position } from './position.ts'
import type { Withdrawal } from './withdrawals.ts'

/** What each status of a deposit means, for people. */
const DEPOSIT_DESCRIPTIONS: Record<HistoryStatus, string> = {
  pending: 'Deposit request submitted, awaiting curator settlement.',
  claimable: 'The curator has settled the epoch; the shares are ready to claim.',
  completed: 'The shares have been received.',
  cancelled: 'The deposit request was cancelled.',
}

/** What each status of a withdrawal means, for people. */
const WITHDRAWAL_DESCRIPTIONS: Record<HistoryStatus, string> = {
  pending: 'Redemption request submitted, awaiting curator settlement.',
  claimable: 'The curator has settled the redemption; the assets are ready to claim.',
  completed: 'The assets have been paid.',
  cancelled: 'The redemption request was cancelled.',
}

const EpochId = z.number().int().nullable()

const where = {
  vaultAddress: Address,
  vaultName: z.string().describe('Display name'),
  userAddress: Address,
  chainId: ChainId,
}

/** What a share is, and what it is worth now. */
export const shareNow = {
  apy: z
    .string()
    .describe('Percent a year with two decimals; "0.00" where it is not known, which `annualYield` tells apart'),
  annualYield: Yield.nullable().describe('The yield as `apy` of the vaults has it; null where none is known'),
  assetSymbol: z.string().describe("Of the vault's asset"),
  assetDecimals: z.number().int().describe("Of the vault's asset"),
  shareDecimals: z.number().int().describe('Decimals of the share token'),
  sharePrice: SharePrice,
}

const VaultNow = z.object(shareNow).describe('The vault now')

/** What the status of an account and its position say of requests whose cancellation the vault has granted. */
export const CancelledDeposit = Amount.describe('Assets of cancelled deposit requests, which another cancel takes back')
export const CancelledRedeemShares = Amount.describe(
  'Shares of cancelled redemption requests, which another cancel takes back',
)

/** A deposit as callers see it. */
export const DepositResponse = z
  .object({
    depositId: z.string().describe('<chainId>-<transactionHash>-<logIndex>'),
    ...where,
    status: HistoryStatus.describe('The one that is furthest from its end'),
    statusDescription: z.string().describe('The status for people'),
    amounts: z
      .object({
        depositedAssets: Amount.describe('What went in'),
        pendingDeposit: Amount.describe("This deposit's part of the assets awaiting settlement"),
        claimableShares: Amount.describe("This deposit's part of the shares ready to claim"),
        currentShares: Amount.describe("This deposit's part of the shares in the wallet"),
      })
      .describe('In the smallest units of asset and share'),
    vault: VaultNow,
    epochId: EpochId.describe('The request id; 0 for synchronous deposits; null where it is above 2^53 - 1'),
    timestamp: Timestamp,
    transactionHash: TransactionHash,
    source: DepositSource.optional().describe(
      'Where a deposit from another chain began; told once its arrival is final and its status was asked for, else absent',
    ),
  })
  .meta({ id: 'Deposit', description: 'A deposit and its part of what the user has now' })

/** A withdrawal as callers see it. */
export const WithdrawalResponse = z
  .object({
    withdrawalId: z.string().describe('<chainId>-<transactionHash>-<logIndex>'),
    ...where,
    status: HistoryStatus.describe(
      'pending while a part of it awaits settlement, else claimable while a part of it can be claimed, else completed when a part of it was paid',
    ),
    statusDescription: z.string().describe('The status for people'),
    shares: Amount.describe("What was redeemed, or asked to be, in the share's smallest unit"),
    assets: Amount.nullable().describe(
      "What was paid and what can be claimed, in the asset's smallest unit; null while a part of it is pending",
    ),
    amounts: z
      .object({
        pendingShares: Amount.describe('Awaiting settlement'),
        claimableShares: Amount.describe('Settled, and not claimed yet'),
        claimableAssets: Amount.describe('What those are worth'),
        paidShares: Amount.describe('Paid out'),
        paidAssets: Amount.describe('What was paid for those'),
        cancelledShares: Amount.describe('Taken back, or to be taken back by another cancel'),
      })
      .describe('What became of its parts, in the smallest units of asset and share'),
    vault: VaultNow,
    epochId: EpochId.describe('The request id; 0 for what was paid at once; null where it is above 2^53 - 1'),
    timestamp: Timestamp,
    transactionHash: TransactionHash,
    claimTransactionHash: TransactionHash.nullable().describe(
      'The last one that paid a part of it, its own for what was paid at once; null before',
    ),
  })
  .meta({ id: 'Withdrawal', description: 'A withdrawal and what became of its parts' })

/** A position as callers see it. */
export const PositionResponse = z
  .object({
    ...where,
    ...shareNow,
    totalDepositedAssets: Amount.describe(
      "All deposits not cancelled, and shares received at their value then, in the asset's smallest unit",
    ),
    totalWithdrawnAssets: Amount.describe(
      "Assets withdrawn, and shares sent away at their value then, in the asset's smallest unit",
    ),
    currentShares: Amount.describe("Shares in the wallet, in the share's smallest unit"),
    currentValue: Amount.describe(
      "Everything of the user in the vault, in the asset's smallest unit: pending, in shares, claimable, being redeemed, cancelled and not taken back",
    ),
    earnedAssets: SignedAmount.describe(
      "currentValue + totalWithdrawnAssets - totalDepositedAssets, in the asset's smallest unit; may be negative",
    ),
    depositCount: z.number().int().describe('How many deposits were not cancelled'),
    startDate: Timestamp,
    lastDepositDate: Timestamp,
    statusBreakdown: z
      .object({
        pending: z.number().int().describe('Awaiting settlement'),
        claimable: z.number().int().describe('Ready to claim'),
        completed: z.number().int().describe('Done'),
      })
      .describe('How many deposits are in which state'),
  })
  .meta({ id: 'Position', description: 'What a user put into a vault, took out, has there and earned' })

/** Why vaults of some chains are left out, by chain id. */
export const ChainErrors = z
  .record(z.string(), z.string())
  .optional()
  .describe(
    'By chain id, why vaults of that chain are left out; the chain may be readable and the events of one vault not',
  )

/** Which of a history is asked for, and which page of it. */
export const HistoryQuery = z.object({
  limit: PageLimit.default(50).describe('1 to 100'),
  cursor: PageCursor,
  vaultAddress: VaultAddress.optional().describe('Of this vault alone'),
  chainId: ChainIdText.optional().describe('Of this chain alone'),
  status: field(HistoryStatus, 'invalid_status').optional().describe('Of this status alone'),
})

/** What a page of a history says besides what is on it. */
export const HistoryPage = z.object({
  userAddress: Address,
  ...Page.shape,
  errors: ChainErrors,
  evidence: EvidenceList,
})

/** What a vault's share is worth now, with its yield over the last days, null where that is not known. */
export function buildShareNow({ vault, live }: AccountVault, annualYield: Yield | null) {
  return {
    apy: yieldText(annualYield),
    annualYield,
    assetSymbol: vault.assetSymbol,
    assetDecimals: vault.assetDecimals,
    shareDecimals: vault.shareDecimals,
    sharePrice: live.sharePrice,
  }
}

/** The response for a deposit. */
export function depositResponse(
  ofVault: AccountVault,
  deposit: Deposit,
  annualYield: Yield | null,
  source: DepositSource | undefined,
): z.output<typeof DepositResponse> {
  const { vault } = ofVault
  const { entry, status, pendingDeposit, claimableShares, currentShares } = deposit
  return {
    depositId: buildEntryId(entry),
    vaultAddress: vault.address,
    vaultName: vault.name,
    userAddress: entry.account,
    chainId: vault.chainId,
    status,
    statusDescription: DEPOSIT_DESCRIPTIONS[status],
    amounts: { depositedAssets: entry.assets, pendingDeposit, claimableShares, currentShares },
    vault: buildShareNow(ofVault, annualYield),
    epochId: epochId(entry.requestId),
    timestamp: entry.timestamp,
    transactionHash: entry.transactionHash,
    ...(source && { source }),
  }
}

/** The response for a withdrawal. */
export function withdrawalResponse(
  ofVault: AccountVault,
  { entry, status, assets, claimTransactionHash, ...amounts }: Withdrawal,
  annualYield: Yield | null,
): z.output<typeof WithdrawalResponse> {
  const { vault } = ofVault
  return {
    withdrawalId: buildEntryId(entry),
    vaultAddress: vault.address,
    vaultName: vault.name,
    userAddress: entry.account,
    chainId: vault.chainId,
    status,
    statusDescription: WITHDRAWAL_DESCRIPTIONS[status],
    shares: entry.shares,
    assets,
    amounts,
    vault: buildShareNow(ofVault, annualYield),
    epochId: entry.kind === 'redeem' ? epochId(entry.requestId) : 0,
    timestamp: entry.timestamp,
    transactionHash: entry.transactionHash,
    claimTransactionHash,
  }
}

/** The response for a position. */
export function positionResponse(
  ofVault: AccountVault,
  { deposits: _, ...position }: Position,
  { account, annualYield }: { account: z.output<typeof Address>; annualYield: Yield | null },
): z.output<typeof PositionResponse> {
  const { vault, live } = ofVault
  return {
    vaultAddress: vault.address,
    vaultName: vault.name,
    userAddress: account,
    chainId: vault.chainId,
    ...buildShareNow(ofVault, annualYield),
    currentShares: live.shares,
    ...position,
  }
}

/** A request's id as a number; null for one that no number holds: the standard allows any of 256 bits. */
function epochId(requestId: bigint): number | null {
  return requestId <= Number.MAX_SAFE_INTEGER ? Number(requestId) : null
}
