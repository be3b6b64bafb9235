import * as z from 'zod'
import { EvidenceList } from '../../../lib/chain/evidence.ts'
import { ChainIdText } from '../../../lib/chain/registry.ts'
import { Address } from '../../../lib/codecs.ts'
import { field } from '../../../lib/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { Page, PageCursor, PageLimit } from '../../../lib/page.ts'
import { VaultResponse, VaultType } from '../../../lib/vaults/response.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/vaults',
  title: 'List vaults',
  summary:
    "Lists the client's vaults that the key may see, with live yield and on-chain state. Sorts by chain id, then address, as text (42161 before 8453). Returns all of them, or pages.",
  tag: 'Vaults',
  caller: 'client',
  uses: { deposits: ['Query', 'BatchGetItem'], config: true },
  request: {
    query: z.object({
      chainId: ChainIdText.optional().describe('Only vaults on this chain'),
      asset: field(Address, 'invalid_asset').optional().describe('Only vaults with this deposit token'),
      type: field(VaultType, 'invalid_type').optional().describe('Only vaults of this type'),
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
