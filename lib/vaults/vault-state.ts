import * as z from 'zod'
import { Address, Amount, Timestamp } from '../codecs.ts'

const fields = z.object({
  symbol: z.string().describe('Share token symbol'),
  decimals: z.number().int().describe('Share token decimals'),
  asset: Address.describe('Underlying asset'),
  assetSymbol: z.string(),
  assetDecimals: z.number().int(),
  totalAssets: Amount.describe("Assets under management, in the asset's smallest unit"),
  totalSupply: Amount.describe('Shares outstanding'),
  sharePrice: Amount.describe("What one whole share is worth, in the asset's smallest unit"),
  owner: Address.describe('Vault owner'),
  safe: Address.describe('Curator multisig'),
  valuationManager: Address,
  feeReceiver: Address,
  paused: z.boolean(),
  pendingSilo: Address.describe('The contract that holds what waits for settlement'),
  pendingDeposits: Amount.describe('Assets waiting for settlement'),
  pendingRedeems: Amount.describe('Shares waiting for redeem settlement'),
  isTotalAssetsValid: z.boolean().describe('False also for versions before 0.5, which have no validity'),
  newTotalAssets: Amount.describe('2^256 - 1 when no valuation is proposed'),
  depositEpochId: z.number().int().describe('Current deposit epoch'),
  redeemEpochId: z.number().int().describe('Current redeem epoch'),
})

type Fields = z.output<typeof fields>

/** An async vault's state at one block. What could not be read is left out and named in `missing`: unknown is not zero. */
export const VaultState = fields.partial().extend({
  missing: z.array(z.string()).describe('The fields that could not be read'),
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
