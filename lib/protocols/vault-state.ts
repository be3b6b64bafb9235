import * as z from 'zod'
import { Address, Amount, Timestamp } from '../core/codecs.ts'

const fields = z.object({
  symbol: z.string().nullable().describe('Share token symbol'),
  decimals: z.number().int().nullable().describe('Share token decimals'),
  asset: Address.nullable().describe('Underlying asset'),
  assetSymbol: z.string().nullable().describe('Symbol of the underlying asset'),
  assetDecimals: z.number().int().nullable().describe('Decimals of the underlying asset'),
  totalAssets: Amount.nullable().describe("Assets under management, in the asset's smallest unit"),
  totalSupply: Amount.nullable().describe("Shares outstanding, in the share's smallest unit"),
  sharePrice: Amount.nullable().describe("Value of one whole share, in the asset's smallest unit"),
  owner: Address.nullable().describe('Vault owner'),
  safe: Address.nullable().describe('Curator multisig'),
  valuationManager: Address.nullable().describe('Address that proposes valuations'),
  feeReceiver: Address.nullable().describe('Address that receives the fees'),
  paused: z.boolean().nullable().describe('True if the vault takes and pays nothing now'),
  pendingSilo: Address.nullable().describe('Contract that holds pending deposits and withdrawals'),
  pendingDeposits: Amount.nullable().describe("Assets waiting for settlement, in the asset's smallest unit"),
  pendingRedeems: Amount.nullable().describe("Shares waiting for settlement, in the share's smallest unit"),
  isTotalAssetsValid: z
    .boolean()
    .nullable()
    .describe('True if the valuation is valid; always false before version 0.5'),
  newTotalAssets: Amount.nullable().describe(
    "Proposed valuation, in the asset's smallest unit; 2^256 - 1 if there is none",
  ),
  depositEpochId: z.number().int().nullable().describe('Current deposit epoch'),
  redeemEpochId: z.number().int().nullable().describe('Current redeem epoch'),
})

type Fields = z.output<typeof fields>

/**
 * State of a vault at one block. A field that could not be read is null and named in `missing`, because unknown is not zero. A field that
 * the vault's protocol does not have is null and not named there.
 */
export const VaultState = fields
  .extend({
    missing: z
      .array(z.string())
      .describe("Null fields that could not be read; the vault's protocol lacks the other null fields"),
  })
  .meta({ id: 'VaultState', description: 'State of a vault at one block; unknown values are null' })
export type VaultState = z.output<typeof VaultState>

/** Block at which a state was read. `stale` is true if the chain cannot be read now, so that an older state is shown. */
export const StateAsOf = z
  .object({
    blockNumber: z.number().int().describe('Block number'),
    timestamp: Timestamp.describe('Block time'),
    stale: z.boolean().describe('True if the state is old because the chain cannot be read now'),
  })
  .meta({ id: 'StateAsOf', description: 'Block that the state was read at' })
export type StateAsOf = z.output<typeof StateAsOf>

/** Builds a vault's state from the fields that were read; `missing` names those that are undefined. */
export function buildVaultState(read: { readonly [Name in keyof Fields]?: Fields[Name] | undefined }): VaultState {
  const missing = Object.entries(read).flatMap(([name, value]) => (value === undefined ? [name] : []))
  const known = Object.entries(read).filter(([, value]) => value !== undefined)
  return { ...NOTHING_READ, ...Object.fromEntries(known), missing }
}

const NOTHING_READ = nullOf(fields.keyof().options)

function nullOf<Name extends string>(names: readonly Name[]) {
  // The cast holds: the object is made of exactly these names.
  return Object.fromEntries(names.map((name) => [name, null])) as Record<Name, null>
}
