import * as z from 'zod'
import { Address, Amount, Timestamp } from '../codecs.ts'

const fields = z.object({
  symbol: z.string(),
  decimals: z.number().int(),
  asset: Address,
  assetSymbol: z.string(),
  assetDecimals: z.number().int(),
  totalAssets: Amount,
  totalSupply: Amount,
  sharePrice: Amount.meta({ description: "What one whole share is worth, in the asset's smallest unit" }),
  owner: Address,
  safe: Address,
  valuationManager: Address,
  feeReceiver: Address,
  paused: z.boolean(),
  pendingSilo: Address,
  pendingDeposits: Amount,
  pendingRedeems: Amount,
  isTotalAssetsValid: z.boolean().meta({ description: 'False also for versions before 0.5, which have no validity' }),
  newTotalAssets: Amount.meta({ description: '2^256 - 1 when no valuation is proposed' }),
  depositEpochId: z.number().int(),
  redeemEpochId: z.number().int(),
})

type Fields = z.output<typeof fields>

/** An async vault's state at one block. What could not be read is left out and named in `missing`: unknown is not zero. */
export const VaultState = fields.partial().extend({
  missing: z.array(z.string()).meta({ description: 'The fields that could not be read' }),
})
export type VaultState = z.output<typeof VaultState>

/** Which block a state is of, and whether it is an old one served because the chain cannot be read now. */
export const StateAsOf = z.object({ blockNumber: z.number().int(), timestamp: Timestamp, stale: z.boolean() })
export type StateAsOf = z.output<typeof StateAsOf>

/** The state of what was read: undefined values become `missing`. */
export function buildVaultState(read: { readonly [Name in keyof Fields]: Fields[Name] | undefined }): VaultState {
  const missing = Object.entries(read).flatMap(([name, value]) => (value === undefined ? [name] : []))
  return { ...read, missing }
}
