import * as z from 'zod'
import { VaultChainIdText } from '../../../lib/chain/registry.ts'
import { Address, Amount, SharePrice, Timestamp, VaultAddress } from '../../../lib/core/codecs.ts'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { Growth } from '../../../lib/vaults/apy.ts'

const Range = z.enum(['30d', '90d', '1y', 'all'])

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/defi/vault/{vaultAddress}/history',
  title: 'Get vault history',
  summary:
    "Returns a vault's recorded share prices, oldest first: the last of each hour within 30 days, the first of each day (UTC) in longer ranges.",
  tag: 'Vaults',
  caller: 'client',
  uses: { deposits: ['Query'], config: true },
  request: {
    path: z.object({ vaultAddress: VaultAddress }),
    query: z.object({
      range: field(Range, 'invalid_range').default('30d').describe('Period that ends now'),
      chainId: VaultChainIdText,
    }),
  },
  response: z.object({
    vaultAddress: Address,
    chainId: z.number().int().describe('Chain of the vault'),
    range: Range.describe('Requested range'),
    history: z
      .array(
        z.object({
          at: Timestamp.describe('Time of the price'),
          sharePrice: SharePrice,
          totalAssets: Amount.nullable().describe(
            "Assets under management, in the asset's smallest unit; null if unknown",
          ),
          annualYield: Growth.nullable().describe(
            'Growth a year, over the seven days before; null if no known price is that old',
          ),
        }),
      )
      .describe('Empty if no price is recorded; hours and days without a price have no point'),
  }),
  errors: ['chain_not_allowed', 'vault_not_allowed', 'ambiguous_vault_address', 'vault_not_found'],
  // Caching for one minute is safe, because a response's signature is valid for five minutes.
  cacheControl: 'private, max-age=60',
  impact: 'Wallets cannot show the history of a vault.',
} as const satisfies EndpointContract
