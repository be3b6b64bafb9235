import * as z from 'zod'
import { DepositSource } from '../bridge/deposit-source.ts'
import { EvidenceList } from '../chain/evidence.ts'
import { ChainId, ChainIdText } from '../chain/registry.ts'
import { Address, Amount, SharePrice, SignedAmount, Timestamp, TransactionHash, VaultAddress } from '../codecs.ts'
import { field } from '../field.ts'
import { Page, PageCursor, PageLimit } from '../page.ts'
import { isFixed } from '../protocols/fixed-requests.ts'
import { Growth, yieldText } from '../vaults/apy.ts'
import { EstimatedSettlement } from '../vaults/settlement-waits.ts'
import type { AccountVault } from './account-vaults.ts'
import type { Deposit } from './history.ts'
import { buildEntryId, HistoryStatus } from './ledger-entry.ts'
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

/** The same of a withdrawal with a cooldown. */
const COOLDOWN_DESCRIPTIONS: typeof WITHDRAWAL_DESCRIPTIONS = {
  ...WITHDRAWAL_DESCRIPTIONS,
  pending: 'Withdrawal begun; the assets can be claimed after the cooldown.',
  claimable: 'The cooldown is over; the assets are ready to claim.',
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
  apy: z.string().describe('Percent a year, two decimals; "0.00" if unknown (`annualYield` is then null)'),
  annualYield: Growth.nullable().describe('Growth a year, as of the vaults; null if unknown'),
  assetSymbol: z.string().describe("Symbol of the vault's asset"),
  assetDecimals: z.number().int().describe("Decimals of the vault's asset"),
  shareDecimals: z.number().int().describe('Decimals of the share token'),
  sharePrice: SharePrice,
}

const VaultNow = z.object(shareNow).describe('Current state of the vault')

/** What the status of an account and its position say of requests whose cancellation the vault has granted. */
/** The fields of a status endpoint, whatever the kind of the requests. */
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

export const CancelledDeposit = Amount.describe(
  'Assets of cancelled deposit requests, which another cancellation returns',
)
export const CancelledRedeemShares = Amount.describe(
  'Shares of cancelled redemption requests, which another cancellation returns',
)

/** A deposit as callers see it. */
export const DepositResponse = z
  .object({
    depositId: z.string().describe('<chainId>-<transactionHash>-<logIndex>'),
    ...where,
    status: HistoryStatus.describe('Status of the least advanced part'),
    statusDescription: z.string().describe('Status as text for users'),
    amounts: z
      .object({
        depositedAssets: Amount.describe('Assets deposited'),
        pendingDeposit: Amount.describe("This deposit's part of the assets waiting for settlement"),
        claimableShares: Amount.describe("This deposit's part of the shares ready to claim"),
        currentShares: Amount.describe("This deposit's part of the shares in the wallet"),
      })
      .describe('Amounts, in the smallest units of asset and share'),
    vault: VaultNow,
    epochId: EpochId.describe('Request id; 0 for synchronous deposits; null if above 2^53 - 1'),
    timestamp: Timestamp,
    transactionHash: TransactionHash,
    source: DepositSource.optional().describe(
      'Origin of a deposit from another chain; present once its arrival is final and you have queried its status',
    ),
  })
  .meta({ id: 'Deposit', description: "A deposit and its part of the user's current amounts" })

/** A withdrawal as callers see it. */
export const WithdrawalResponse = z
  .object({
    withdrawalId: z.string().describe('<chainId>-<transactionHash>-<logIndex>'),
    ...where,
    status: HistoryStatus.describe(
      'pending: a part waits for settlement. Else claimable: a part can be claimed. Else completed: a part was paid. Else cancelled',
    ),
    statusDescription: z.string().describe('Status as text for users'),
    shares: Amount.describe("Shares redeemed or requested, in the share's smallest unit"),
    assets: Amount.nullable().describe(
      "Assets paid, claimable or in a cooldown, in the asset's smallest unit; null while a part waits for a settlement",
    ),
    amounts: z
      .object({
        pendingShares: Amount.describe('Shares waiting for settlement or a cooldown'),
        claimableShares: Amount.describe('Settled shares not claimed yet'),
        claimableAssets: Amount.describe('Assets for the claimable shares'),
        paidShares: Amount.describe('Shares paid out'),
        paidAssets: Amount.describe('Assets paid for those shares'),
        cancelledShares: Amount.describe('Shares returned, or returned by another cancellation'),
      })
      .describe('State of its parts, in the smallest units of asset and share'),
    vault: VaultNow,
    epochId: EpochId.describe('Request id; 0 for instant withdrawals and cooldowns; null if above 2^53 - 1'),
    timestamp: Timestamp,
    transactionHash: TransactionHash,
    claimTransactionHash: TransactionHash.nullable().describe(
      "Last transaction that paid a part; an instant withdrawal's own; null before",
    ),
  })
  .meta({ id: 'Withdrawal', description: 'A withdrawal and the state of its parts' })

/** A position as callers see it. */
export const PositionResponse = z
  .object({
    ...where,
    ...shareNow,
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

/** Reasons for vaults that are left out, by chain id. */
export const ChainErrors = z
  .record(z.string(), z.string())
  .optional()
  .describe('Reason by chain id why the list omits vaults of that chain, all or some')

/** Which of a history is asked for, and which page of it. */
export const HistoryQuery = z.object({
  limit: PageLimit.default(50).describe('Page size, 1 to 100'),
  cursor: PageCursor,
  vaultAddress: VaultAddress.optional().describe('Only this vault'),
  chainId: ChainIdText.optional().describe('Only this chain'),
  status: field(HistoryStatus, 'invalid_status').optional().describe('Only this status'),
})

/** What a page of a history says besides what is on it. */
export const HistoryPage = z.object({
  userAddress: Address,
  ...Page.shape,
  errors: ChainErrors,
  evidence: EvidenceList,
})

/** What a vault's share is worth now, with its yield over the last days, null where that is not known. */
export function buildShareNow({ vault, live }: AccountVault, annualYield: Growth | null) {
  return {
    apy: yieldText({ annualYield }),
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
  annualYield: Growth | null,
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
  annualYield: Growth | null,
): z.output<typeof WithdrawalResponse> {
  const { vault } = ofVault
  return {
    withdrawalId: buildEntryId(entry),
    vaultAddress: vault.address,
    vaultName: vault.name,
    userAddress: entry.account,
    chainId: vault.chainId,
    status,
    statusDescription: (isFixed(entry) ? COOLDOWN_DESCRIPTIONS : WITHDRAWAL_DESCRIPTIONS)[status],
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
  { account, annualYield }: { account: z.output<typeof Address>; annualYield: Growth | null },
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
