// These schemas are written only from the published API document. They import nothing from lib/, because they must reveal
// mistakes in lib/.
import * as z from 'zod'
import { Address, Amount, Hash, Percent, SignedAmount, Time } from './values.ts'

/** Object that the API document calls "Position entry". */
export const Position = z.looseObject({
  vaultAddress: Address,
  vaultName: z.string(),
  userAddress: Address,
  chainId: z.number(),
  apy: Percent,
  assetSymbol: z.string(),
  assetDecimals: z.number(),
  totalDepositedAssets: Amount,
  totalWithdrawnAssets: Amount,
  currentShares: Amount,
  sharePrice: Amount,
  currentValue: Amount,
  earnedAssets: SignedAmount,
  depositCount: z.number(),
  startDate: Time,
  lastDepositDate: Time,
  statusBreakdown: z.strictObject({ pending: z.number(), claimable: z.number(), completed: z.number() }),
})

/** Response to `GET /defi-vaults/v1/defi/user/:userAddress/positions`. */
export const Positions = z.looseObject({
  userAddress: Address,
  totalRecords: z.number(),
  positions: z.array(Position),
})

const Deposit = z.looseObject({
  depositId: z.string(),
  vaultAddress: Address,
  vaultName: z.string(),
  userAddress: Address,
  chainId: z.number(),
  status: z.string(),
  statusDescription: z.string(),
  amounts: z.strictObject({
    depositedAssets: Amount,
    pendingDeposit: Amount,
    claimableShares: Amount,
    currentShares: Amount,
  }),
  vault: z.looseObject({ apy: Percent, assetSymbol: z.string(), assetDecimals: z.number(), sharePrice: Amount }),
  epochId: z.number(),
  timestamp: Time,
  transactionHash: Hash,
})

/** Response to `GET /defi-vaults/v1/defi/user/:userAddress/deposits`. */
export const Deposits = z.looseObject({
  userAddress: Address,
  totalRecords: z.number(),
  hasMore: z.boolean(),
  deposits: z.array(Deposit),
})
