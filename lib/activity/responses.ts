import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { Address, Amount, SignedAmount, Timestamp, TransactionHash } from '../codecs.ts'
import type { AccountVault } from './account-vaults.ts'
import type { Deposit } from './history.ts'
import { buildDepositId, DepositSource } from './ledger-entry.ts'
import type { Position } from './position.ts'

/** What each status of a deposit means, for people. */
const DESCRIPTIONS: Record<Deposit['status'], string> = {
  pending: 'Deposit request submitted, awaiting curator settlement.',
  claimable: 'The curator has settled the epoch; the shares are ready to claim.',
  completed: 'The shares have been received.',
  cancelled: 'The deposit request was cancelled.',
}

const where = { vaultAddress: Address, vaultName: z.string(), userAddress: Address, chainId: ChainId }

/** A deposit as callers see it. */
export const DepositResponse = z.object({
  depositId: z.string().describe('<chainId>-<transactionHash>-<logIndex>'),
  ...where,
  status: z.enum(['pending', 'claimable', 'completed', 'cancelled']),
  statusDescription: z.string(),
  amounts: z.object({
    depositedAssets: Amount.describe('What went in'),
    pendingDeposit: Amount.describe("This deposit's part of the assets awaiting settlement"),
    claimableShares: Amount.describe("This deposit's part of the shares ready to claim"),
    currentShares: Amount.describe("This deposit's part of the shares in the wallet"),
  }),
  vault: z.object({ apy: z.string(), assetSymbol: z.string(), assetDecimals: z.number().int(), sharePrice: Amount }),
  epochId: z.number().int().describe('The request id; 0 for synchronous deposits'),
  timestamp: Timestamp,
  transactionHash: TransactionHash,
  source: DepositSource.optional().describe(
    'Where a deposit from another chain began; told once its arrival is final and its status was asked for, else absent',
  ),
})

/** A position as callers see it; amounts in the asset's smallest unit. */
export const PositionResponse = z.object({
  ...where,
  apy: z.string().describe('Percent with two decimals'),
  assetSymbol: z.string(),
  assetDecimals: z.number().int(),
  totalDepositedAssets: Amount.describe('All deposits not cancelled, and shares received at their value then'),
  totalWithdrawnAssets: Amount.describe('Assets withdrawn, and shares sent away at their value then'),
  currentShares: Amount.describe('Shares in the wallet'),
  sharePrice: Amount.describe('What one whole share is worth'),
  currentValue: Amount.describe('Everything of the user in the vault: pending, in shares, claimable, being redeemed'),
  earnedAssets: SignedAmount.describe('currentValue + totalWithdrawnAssets - totalDepositedAssets; may be negative'),
  depositCount: z.number().int(),
  startDate: Timestamp,
  lastDepositDate: Timestamp,
  statusBreakdown: z.object({ pending: z.number().int(), claimable: z.number().int(), completed: z.number().int() }),
})

/** Why vaults of some chains are left out, by chain id. */
export const ChainErrors = z
  .record(z.string(), z.string())
  .optional()
  .describe(
    'By chain id, why vaults of that chain are left out; the chain may be readable and the events of one vault not',
  )

/** The response for a deposit; `apy` as text. */
export function depositResponse(
  { vault, live }: AccountVault,
  deposit: Deposit,
  apy: string,
  source: DepositSource | undefined,
): z.output<typeof DepositResponse> {
  const { entry, status, pendingDeposit, claimableShares, currentShares } = deposit
  return {
    depositId: buildDepositId(entry),
    vaultAddress: vault.address,
    vaultName: vault.name,
    userAddress: entry.account,
    chainId: vault.chainId,
    status,
    statusDescription: DESCRIPTIONS[status],
    amounts: { depositedAssets: entry.assets, pendingDeposit, claimableShares, currentShares },
    vault: { apy, assetSymbol: vault.assetSymbol, assetDecimals: vault.assetDecimals, sharePrice: live.sharePrice },
    epochId: Number(entry.requestId),
    timestamp: entry.timestamp,
    transactionHash: entry.transactionHash,
    ...(source && { source }),
  }
}

/** The response for a position; `apy` as text. */
export function positionResponse(
  { vault, live }: AccountVault,
  { deposits: _, ...position }: Position,
  { account, apy }: { account: z.output<typeof Address>; apy: string },
): z.output<typeof PositionResponse> {
  return {
    vaultAddress: vault.address,
    vaultName: vault.name,
    userAddress: account,
    chainId: vault.chainId,
    apy,
    assetSymbol: vault.assetSymbol,
    assetDecimals: vault.assetDecimals,
    currentShares: live.shares,
    sharePrice: live.sharePrice,
    ...position,
  }
}
