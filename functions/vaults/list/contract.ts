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
    'Lists the vaults that the key sees of those configured for the client, with their live yield and on-chain state, by chain and address as texts (42161 before 8453); all at once, or page by page.',
  tag: 'Vaults',
  caller: 'client',
  uses: { deposits: ['BatchGetItem'], config: true },
  request: {
    query: z.object({
      chainId: ChainIdText.optional().describe('On this chain alone'),
      asset: field(Address, 'invalid_asset').optional().describe('With this token to deposit alone'),
      type: field(VaultType, 'invalid_type').optional().describe('Of this type alone'),
      limit: PageLimit.optional().describe('1 to 100; all are on one page where it is left out'),
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
