import * as z from 'zod'
import { DepositSource } from '../bridge/deposit-source.ts'
import { ChainId } from '../chain/registry.ts'
import { Address, Amount, SharePrice, Timestamp, TransactionHash } from '../core/codecs.ts'
import { isFixedRequest } from '../protocols/fixed-requests.ts'
import type { LiveAccount } from '../protocols/protocol.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { formatAnnualYield, Growth } from '../vaults/apy.ts'
import type { AccountVault } from './account-vaults.ts'
import type { Deposit } from './history.ts'
import { buildEntryId, HistoryStatus } from './ledger-entry.ts'
import type { Withdrawal } from './withdrawals.ts'

const DEPOSIT_DESCRIPTIONS: Record<HistoryStatus, string> = {
  pending: 'Deposit request submitted, awaiting curator settlement.',
  claimable: 'The curator has settled the epoch; the shares are ready to claim.',
  completed: 'The shares have been received.',
  cancelled: 'The deposit request was cancelled.',
}

const WITHDRAWAL_DESCRIPTIONS: Record<HistoryStatus, string> = {
  pending: 'Redemption request submitted, awaiting curator settlement.',
  claimable: 'The curator has settled the redemption; the assets are ready to claim.',
  completed: 'The assets have been paid.',
  cancelled: 'The redemption request was cancelled.',
}

const COOLDOWN_DESCRIPTIONS: typeof WITHDRAWAL_DESCRIPTIONS = {
  ...WITHDRAWAL_DESCRIPTIONS,
  pending: 'Withdrawal begun; the assets can be claimed after the cooldown.',
  claimable: 'The cooldown is over; the assets are ready to claim.',
}

const EpochId = z.number().int().nullable()

/** Response fields that identify the vault and the account. */
export const vaultAndAccountFields = {
  vaultAddress: Address,
  vaultName: z.string().describe('Display name'),
  userAddress: Address,
  chainId: ChainId,
}

/** Response fields of the vault's asset and share tokens, with the current price and yield. */
export const priceAndYieldFields = {
  apy: z.string().describe('Percent a year, two decimals; "0.00" if unknown (`annualYield` is then null)'),
  annualYield: Growth.nullable().describe('Growth a year, as of the vaults; null if unknown'),
  assetSymbol: z.string().describe("Symbol of the vault's asset"),
  assetDecimals: z.number().int().describe("Decimals of the vault's asset"),
  shareDecimals: z.number().int().describe('Decimals of the share token'),
  sharePrice: SharePrice,
}

const VaultNow = z.object(priceAndYieldFields).describe('Current state of the vault')

/** Deposit in API responses. */
export const DepositResponse = z
  .object({
    depositId: z.string().describe('<chainId>-<transactionHash>-<logIndex>'),
    ...vaultAndAccountFields,
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

/** Deposit in webhook events, without the fields that differ between the API's clients. */
export const DepositEntry = DepositResponse.omit({ vaultName: true, source: true }).meta({
  id: 'DepositEntry',
  description: 'A deposit as `GET …/deposits` shows it, without `vaultName` and `source`',
})

/** Withdrawal in API responses. */
export const WithdrawalResponse = z
  .object({
    withdrawalId: z.string().describe('<chainId>-<transactionHash>-<logIndex>'),
    ...vaultAndAccountFields,
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

/** Withdrawal in webhook events, without the field that differs between the API's clients. */
export const WithdrawalEntry = WithdrawalResponse.omit({ vaultName: true }).meta({
  id: 'WithdrawalEntry',
  description: 'A withdrawal as `GET …/withdrawals` shows it, without `vaultName`',
})

/** Vault and an account's amounts in it, without data that differs between the API's clients. */
type OnChain = { readonly vault: VaultOnChain; readonly live: LiveAccount }

/** Builds the response fields of a vault's share token. `annualYield` is null if unknown. */
export function buildPriceAndYield({ vault, live }: OnChain, annualYield: Growth | null) {
  return {
    apy: formatAnnualYield({ annualYield }),
    annualYield,
    assetSymbol: vault.assetSymbol,
    assetDecimals: vault.assetDecimals,
    shareDecimals: vault.shareDecimals,
    sharePrice: live.sharePrice,
  }
}

/** Builds the API response for a deposit. */
export function buildDepositResponse(
  ofVault: AccountVault,
  deposit: Deposit,
  annualYield: Growth | null,
  source: DepositSource | undefined,
): z.output<typeof DepositResponse> {
  const { name: vaultName } = ofVault.vault
  return { ...buildDepositEntry(ofVault, deposit, annualYield), vaultName, ...(source && { source }) }
}

/** Builds a deposit for webhook events. */
export function buildDepositEntry(
  ofVault: OnChain,
  deposit: Deposit,
  annualYield: Growth | null,
): z.output<typeof DepositEntry> {
  const { vault } = ofVault
  const { entry, status, pendingDeposit, claimableShares, currentShares } = deposit
  return {
    depositId: buildEntryId(entry),
    vaultAddress: vault.address,
    userAddress: entry.account,
    chainId: vault.chainId,
    status,
    statusDescription: DEPOSIT_DESCRIPTIONS[status],
    amounts: { depositedAssets: entry.assets, pendingDeposit, claimableShares, currentShares },
    vault: buildPriceAndYield(ofVault, annualYield),
    epochId: epochId(entry.requestId),
    timestamp: entry.timestamp,
    transactionHash: entry.transactionHash,
  }
}

/** Builds the API response for a withdrawal. */
export function buildWithdrawalResponse(
  ofVault: AccountVault,
  withdrawal: Withdrawal,
  annualYield: Growth | null,
): z.output<typeof WithdrawalResponse> {
  return { ...buildWithdrawalEntry(ofVault, withdrawal, annualYield), vaultName: ofVault.vault.name }
}

/** Builds a withdrawal for webhook events. */
export function buildWithdrawalEntry(
  ofVault: OnChain,
  { entry, status, assets, claimTransactionHash, ...amounts }: Withdrawal,
  annualYield: Growth | null,
): z.output<typeof WithdrawalEntry> {
  const { vault } = ofVault
  return {
    withdrawalId: buildEntryId(entry),
    vaultAddress: vault.address,
    userAddress: entry.account,
    chainId: vault.chainId,
    status,
    statusDescription: (isFixedRequest(entry) ? COOLDOWN_DESCRIPTIONS : WITHDRAWAL_DESCRIPTIONS)[status],
    shares: entry.shares,
    assets,
    amounts,
    vault: buildPriceAndYield(ofVault, annualYield),
    epochId: entry.kind === 'redeem' ? epochId(entry.requestId) : 0,
    timestamp: entry.timestamp,
    transactionHash: entry.transactionHash,
    claimTransactionHash,
  }
}

/** Returns a request's id as a number; null above 2^53 - 1, because larger numbers are not exact in JavaScript. */
function epochId(requestId: bigint): number | null {
  return requestId <= Number.MAX_SAFE_INTEGER ? Number(requestId) : null
}
