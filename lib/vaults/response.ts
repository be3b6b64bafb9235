import * as z from 'zod'
import { ChainId } from '../chain/registry.ts'
import { Address, Amount, Timestamp } from '../core/codecs.ts'
import { VaultTerms } from '../protocols/terms.ts'
import { PROTOCOL_NAMES } from '../protocols/vault-on-chain.ts'
import { StateAsOf, VaultState } from '../protocols/vault-state.ts'
import { Growth } from './apy.ts'

/** Type of a vault: `sync` gives shares immediately, `async` after a settlement. */
export const VaultType = z.enum(['async', 'sync'])

/** Vault in API responses, with its live yield and state. */
export const VaultResponse = z
  .object({
    poolId: z.string().describe('Internal vault identifier'),
    chainId: ChainId,
    name: z.string().describe('Display name'),
    logo_url: z.string().describe('May be empty'),
    riskProfile: z.string().describe('Risk classification'),
    riskProtocol: z.string().describe('Risk rating of the protocol'),
    poolAddress: Address.describe('Vault contract'),
    depositTokenAddress: Address.describe('Token to deposit'),
    yieldTokenAddress: Address.describe('Share token'),
    type: VaultType.describe('async: shares come after a settlement'),
    MaxCap: z.boolean().describe('True if deposits have an upper limit'),
    protocol: z.literal(PROTOCOL_NAMES).describe('Kind of vault'),
    curatorAddress: Address.nullable()
      .optional()
      .describe('Curator multisig; async vaults only, null if the vault has none'),
    valuationManager: Address.nullable()
      .optional()
      .describe('Address that proposes valuations; async vaults only, null if the vault has none'),
    description: z.string().describe('Description for users'),
    APY: z.string().describe('Percent a year, two decimals; "0.00" if unknown (`annualYield` is then null)'),
    annualYield: Growth.nullable().describe('Growth a year, over about 7 days; null if no known price is that old'),
    annualYields: z
      .object({
        '7d': Growth.nullable().describe('Over about 7 days, as annualYield'),
        '30d': Growth.nullable().describe('Over about 30 days'),
        '90d': Growth.nullable().describe('Over about 90 days'),
      })
      .describe('Growth a year, each over at least this many days; null if no known price is that old'),
    growth: Growth.nullable().describe(
      'Growth since the first known price, while that is younger than 7 days; null otherwise',
    ),
    rewards: z
      .array(
        z.object({
          chainId: z.number().int().describe('Chain that pays it; it can differ from the chain of the vault'),
          token: Address.describe('Token that is paid'),
          symbol: z.string().describe('Its symbol, as Merkl reports it'),
          apr: z.number().nullable().describe('Percent a year, as Merkl reports it; null if not measured yet'),
          endsAt: Timestamp.describe('End of the last live campaign'),
        }),
      )
      .nullable()
      .describe(
        'Tokens that campaigns pay on top of the yield, some minutes old; never part of `APY`. Null if unknown. `GET …/rewards` lists those of a user',
      ),
    asset: z
      .object({ symbol: z.string().describe('Symbol'), decimals: z.number().int().describe('Decimals') })
      .describe('Token to deposit'),
    shareDecimals: z.number().int().describe('Decimals of the share token'),
    totalAssets: Amount.nullable().describe(
      "Assets under management at stateAsOf, in the asset's smallest unit; null if unknown",
    ),
    totalAssetsUsd: z
      .number()
      .nullable()
      .describe(
        'totalAssets in US dollars, at a price some minutes old; null if either is unknown, or if reading the price takes over a second',
      ),
    terms: VaultTerms,
    vaultState: VaultState.nullable().optional().describe('Async vaults only; null if never read'),
    hasChanged: z
      .boolean()
      .nullable()
      .describe(
        "True if the vault's code changed, or its price moved by over a tenth, since an operator confirmed it. Deposits then return `vault_has_changed` until an operator confirms it again. Checked every minute; null if not checked",
      ),
    pinnedAt: Timestamp.nullable().describe(
      "Time when an operator last confirmed the vault's code and price; null if not checked or not known now",
    ),
    stateAsOf: StateAsOf.nullable().describe('Block of the state; null if the vault was never read'),
  })
  .meta({ id: 'Vault', description: 'A vault with its live yield and state' })
