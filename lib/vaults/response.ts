import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { Address, Amount } from '../codecs.ts'
import { ASYNC_PROTOCOLS } from '../protocols/vault-on-chain.ts'
import { Yield } from './apy.ts'
import { StateAsOf, VaultState } from './vault-state.ts'

/** Whether shares come at once, or only after a settlement. */
export const VaultType = z.enum(['async', 'sync'])

/** A vault as callers see it, with its live yield and state. */
export const VaultResponse = z
  .object({
    poolId: z.string().describe('Internal vault identifier'),
    chainId: ChainId,
    name: z.string().describe('Display name'),
    logo_url: z.string().describe('May be empty'),
    riskProfile: z.string().describe('Risk classification'),
    riskProtocol: z.string().describe('Risk rating of the protocol'),
    poolAddress: Address.describe('Vault contract'),
    depositTokenAddress: Address.describe('The token to deposit'),
    yieldTokenAddress: Address.describe('The share token'),
    type: VaultType.describe('async: shares come after a settlement'),
    MaxCap: z.boolean().describe('Whether deposits have an upper limit'),
    protocol: z.literal(ASYNC_PROTOCOLS).optional().describe('Async vaults only'),
    curatorAddress: Address.optional().describe('Curator multisig; async vaults only'),
    valuationManager: Address.optional().describe('Proposes valuations; async vaults only'),
    description: z.string().describe('A text for people'),
    APY: z.string().describe('Percent with two decimals; "0.00" where it is not known, which `apy` tells apart'),
    apy: Yield.nullable().describe(
      'null where no yield is known: there is no earlier price yet, or none at least an hour before',
    ),
    asset: z
      .object({ symbol: z.string().describe('Symbol'), decimals: z.number().int().describe('Decimals') })
      .describe('Of the token to deposit'),
    shareDecimals: z.number().int().describe('Decimals of the share token'),
    totalAssets: Amount.nullable().describe(
      "Assets under management, in the asset's smallest unit, as of stateAsOf; null where it is not known",
    ),
    vaultState: VaultState.optional().describe('Async vaults only; left out when never read'),
    hasChanged: z
      .boolean()
      .nullable()
      .describe(
        'Whether its code, or its price by more than a tenth between two looks, has changed since an operator confirmed it: deposits then answer `vault_has_changed` until one does so again. Looked at every minute; null where it is not',
      ),
    stateAsOf: StateAsOf.nullable().describe('Which block the state is of; null when the vault was never read'),
  })
  .meta({ id: 'Vault', description: 'A vault with its live yield and state' })
