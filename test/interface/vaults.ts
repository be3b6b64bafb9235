// These schemas are written only from the published API document. They import nothing from lib/, because they must reveal
// mistakes in lib/.
import * as z from 'zod'
import { Address, Amount, Percent } from './values.ts'

const fields = {
  poolId: z.string(),
  chainId: z.number(),
  name: z.string(),
  logo_url: z.string(),
  riskProfile: z.string(),
  riskProtocol: z.string(),
  poolAddress: Address,
  depositTokenAddress: Address,
  yieldTokenAddress: Address,
  MaxCap: z.boolean(),
  description: z.string(),
  APY: Percent,
}

const VaultState = z.strictObject({
  symbol: z.string().nullable(),
  decimals: z.number().nullable(),
  asset: Address.nullable(),
  assetSymbol: z.string().nullable(),
  assetDecimals: z.number().nullable(),
  totalAssets: Amount.nullable(),
  totalSupply: Amount.nullable(),
  sharePrice: Amount.nullable(),
  owner: Address.nullable(),
  safe: Address.nullable(),
  valuationManager: Address.nullable(),
  feeReceiver: Address.nullable(),
  paused: z.boolean().nullable(),
  pendingSilo: Address.nullable(),
  pendingDeposits: Amount.nullable(),
  pendingRedeems: Amount.nullable(),
  isTotalAssetsValid: z.boolean().nullable(),
  newTotalAssets: Amount.nullable(),
  depositEpochId: z.number().nullable(),
  redeemEpochId: z.number().nullable(),
  // The service adds `missing`: names of the fields that are null because the service could not read them.
  missing: z.array(z.string()),
})

const AsyncVault = z
  .looseObject({
    ...fields,
    type: z.literal('async'),
    protocol: z.string(),
    curatorAddress: Address.nullable(),
    valuationManager: Address.nullable(),
    vaultState: VaultState.nullable(),
    // The service adds `stateAsOf`. It is null until the service has read the vault's state for the first time.
    stateAsOf: z.looseObject({}).nullable(),
  })
  .check(({ value, issues }) => {
    const { protocol, vaultState, stateAsOf } = value
    if ((vaultState === null) !== (stateAsOf === null)) {
      issues.push({ code: 'custom', message: 'The state is null exactly before it is read', input: value })
    }
    // The API document describes only Lagoon vaults, whose state has no null fields.
    if (protocol !== 'lagoon') return
    const { missing = [], ...state } = vaultState ?? {}
    const { curatorAddress, valuationManager } = value
    for (const [name, field] of Object.entries({ curatorAddress, valuationManager, ...state })) {
      if (field === null && !missing.includes(name)) {
        issues.push({ code: 'custom', message: `${name} is null, but not missing`, input: value })
      }
    }
  })

const SyncVault = z.looseObject({ ...fields, type: z.literal('sync') })

/** Vault in the service's list. Fields that only Lagoon vaults have are null for other protocols. */
export const Vault = z.discriminatedUnion('type', [AsyncVault, SyncVault])

/** Response to `GET /defi-vaults/v1/vaults`. */
export const VaultList = z.looseObject({ success: z.literal(true), data: z.array(Vault) })

const Transaction = z.looseObject({ to: Address, data: z.string().regex(/^0x([0-9a-f]{2})*$/), value: Amount })

/** Response that the API document calls "Deposit calldata response". */
export const Calldata = z.looseObject({
  approval: z.array(Transaction),
  operations: z.array(Transaction),
  protocol: z.string(),
  chainId: z.number(),
  estimatedGas: Amount,
  isCrossChain: z.boolean(),
  isAsync: z.boolean(),
})
