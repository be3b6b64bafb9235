import * as z from 'zod'
import { Address, Amount, Timestamp } from '../codecs.ts'

const fields = z.object({
  symbol: z.string().nullable().describe('Share token symbol'),
  decimals: z.number().int().nullable().describe('Share token decimals'),
  asset: Address.nullable().describe('Underlying asset'),
  assetSymbol: z.string().nullable().describe('Symbol of the underlying asset'),
  assetDecimals: z.number().int().nullable().describe('Decimals of the underlying asset'),
  totalAssets: Amount.nullable().describe("Assets under management, in the asset's smallest unit"),
  totalSupply: Amount.nullable().describe("Shares outstanding, in the share's smallest unit"),
  sharePrice: Amount.nullable().describe("What one whole share is worth, in the asset's smallest unit"),
  owner: Address.nullable().describe('Vault owner'),
  safe: Address.nullable().describe('Curator multisig'),
  valuationManager: Address.nullable().describe('Proposes valuations'),
  feeReceiver: Address.nullable().describe('Receives the fees'),
  paused: z.boolean().nullable().describe('Whether it takes nothing and pays nothing now'),
  pendingSilo: Address.nullable().describe('The contract that holds what waits for settlement'),
  pendingDeposits: Amount.nullable().describe("Assets waiting for settlement, in the asset's smallest unit"),
  pendingRedeems: Amount.nullable().describe("Shares waiting for redeem settlement, in the share's smallest unit"),
  isTotalAssetsValid: z.boolean().nullable().describe('False also for versions before 0.5, which have no validity'),
  newTotalAssets: Amount.nullable().describe(
    "The proposed valuation, in the asset's smallest unit; 2^256 - 1 when none is",
  ),
  depositEpochId: z.number().int().nullable().describe('Current deposit epoch'),
  redeemEpochId: z.number().int().nullable().describe('Current redeem epoch'),
})

type Fields = z.output<typeof fields>

/**
 * A vault's state at one block. What could not be read is null and named in `missing`: unknown is not zero. What vaults
 * of its protocol do not have or tell is null too, and nothing is missing of it.
 */
export const VaultState = fields
  .extend({
    missing: z
      .array(z.string())
      .describe(
        "The fields that could not be read, which are null; null and not in `missing`: this vault's protocol has no such value",
      ),
  })
  .meta({ id: 'VaultState', description: 'The state of a vault at one block; what is not known is null' })
export type VaultState = z.output<typeof VaultState>

/** Which block a state is of, and whether it is an old one served because the chain cannot be read now. */
export const StateAsOf = z
  .object({
    blockNumber: z.number().int().describe('Of the chain'),
    timestamp: Timestamp.describe('The time of that block'),
    stale: z.boolean().describe('Whether it is an old one, because the chain cannot be read now'),
  })
  .meta({ id: 'StateAsOf', description: 'Which block a state is of' })
export type StateAsOf = z.output<typeof StateAsOf>

/** The state of what was read of a vault: undefined values are `missing`. */
export function buildVaultState(read: { readonly [Name in keyof Fields]?: Fields[Name] | undefined }): VaultState {
  const missing = Object.entries(read).flatMap(([name, value]) => (value === undefined ? [name] : []))
  const known = Object.entries(read).filter(([, value]) => value !== undefined)
  return { ...NOTHING_READ, ...Object.fromEntries(known), missing }
}

const NOTHING_READ = nullOf(fields.keyof().options)

function nullOf<Name extends string>(names: readonly Name[]) {
  // An object made of a list of names has exactly these names, which fromEntries cannot say.
  return Object.fromEntries(names.map((name) => [name, null])) as Record<Name, null>
}
