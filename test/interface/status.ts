// These schemas are written only from the published API document. They import nothing from lib/, because they must reveal
// mistakes in lib/.
import * as z from 'zod'
import { Address, Amount, Hash, Time } from './values.ts'

/** Response to `GET /defi-vaults/v1/defi/vault/:vaultAddress/deposit-status`. */
export const DepositStatus = z.looseObject({
  vaultAddress: Address,
  userAddress: Address,
  chainId: z.number(),
  // The service adds `cancelled`. The API document lacks this status, because it covers no vault that returns a cancelled
  // deposit later.
  status: z.enum(['pending', 'claimable', 'deposited', 'no_active_deposit', 'cancelled']),
  statusDescription: z.string(),
  amounts: z.looseObject({ pendingDeposit: Amount, claimableShares: Amount, currentShares: Amount }),
  // Both fields are null for a vault whose contract lacks them.
  vault: z.strictObject({ depositEpochId: z.number().nullable(), isTotalAssetsValid: z.boolean().nullable() }),
})

const Chain = z.strictObject({ id: z.number(), name: z.string() })

/** Response that the API document calls "Cross-chain deposit status". */
export const TransferStatus = z.looseObject({
  depositId: Hash,
  status: z.enum(['pending', 'bridging', 'completed', 'failed']),
  srcChain: Chain,
  // The API document does not name `dstChain`. The service returns null for an unknown transaction hash.
  dstChain: Chain.nullable(),
  protocol: z.string().nullable(),
  inputAmount: Amount.nullable(),
  outputAmount: Amount.nullable(),
  timestamps: z.strictObject({
    initiated: Time.nullable(),
    bridged: Time.nullable(),
    completed: Time.nullable(),
  }),
  transactions: z.strictObject({ source: Hash, fill: Hash.nullable() }),
})
