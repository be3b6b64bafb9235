import * as z from 'zod'
import { EvidenceList } from '../../../lib/chain/evidence.ts'
import { ChainIdText } from '../../../lib/chain/registry.ts'
import { Address } from '../../../lib/core/codecs.ts'
import { field } from '../../../lib/core/field.ts'
import { Page, PageCursor, PageLimit } from '../../../lib/core/page.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { VaultResponse, VaultType } from '../../../lib/vaults/response.ts'

const SortField = z.enum(['annualYield', 'totalAssetsUsd', 'name'])
export type SortField = z.output<typeof SortField>

const SortOrder = z.enum(['asc', 'desc'])
export type SortOrder = z.output<typeof SortOrder>

const Dollars = z.codec(z.string().meta({ pattern: '^[0-9]{1,15}(\\.[0-9]{1,18})?$' }), z.number(), {
  decode: (text, context) => {
    if (/^\d{1,15}(\.\d{1,18})?$/.test(text)) return Number(text)
    context.issues.push({ code: 'custom', message: 'must be a decimal number of at least 0', input: text })
    return z.NEVER
  },
  encode: String,
})

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/vaults',
  title: 'List vaults',
  summary:
    "Lists the client's vaults that the key may see, with live yield and on-chain state. Without `sort`: by chain id, then address, as text (42161 before 8453). Returns all of them, or pages.",
  tag: 'Vaults',
  caller: 'client',
  uses: { deposits: ['Query', 'BatchGetItem'], cache: ['BatchGetItem'], config: true },
  request: {
    query: z.object({
      chainId: ChainIdText.optional().describe('Only vaults on this chain'),
      asset: field(Address, 'invalid_asset').optional().describe('Only vaults with this deposit token'),
      type: field(VaultType, 'invalid_type').optional().describe('Only vaults of this type'),
      sort: field(SortField, 'invalid_sort')
        .optional()
        .describe(
          'Sorts by live figures or by name. Unknown figures come last. Pages neither repeat nor skip a vault while figures move. If vaults were added or removed, the cursor is invalid: start again',
        ),
      order: field(SortOrder, 'invalid_order')
        .optional()
        .describe('Order of `sort`; default `desc` for figures, `asc` for names. Without `sort` it has no effect'),
      minTotalAssetsUsd: field(Dollars, 'invalid_min_total_assets_usd')
        .optional()
        .describe('Only vaults with at least this many US dollars; leaves out vaults of unknown value'),
      limit: PageLimit.optional().describe('Page size, 1 to 100; without it one page has all vaults'),
      cursor: PageCursor,
    }),
  },
  response: z.object({
    success: z.literal(true),
    data: z.array(VaultResponse),
    ...Page.shape,
    evidence: EvidenceList,
  }),
  errors: ['no_vaults_configured'],
  cacheControl: 'no-store',
  impact: 'Wallets cannot show the list of vaults.',
} as const satisfies EndpointContract
