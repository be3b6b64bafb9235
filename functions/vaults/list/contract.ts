import * as z from 'zod'
import { EvidenceList } from '../../../lib/chain/evidence.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { VaultResponse } from '../../../lib/vaults/response.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/vaults',
  title: 'List vaults',
  summary:
    'Lists the vaults that the key sees of those configured for the client, with their live yield and on-chain state.',
  tag: 'Vaults',
  caller: 'client',
  uses: { deposits: ['BatchGetItem'], config: true },
  request: {},
  response: z.object({
    success: z.literal(true),
    data: z.array(VaultResponse),
    evidence: EvidenceList,
  }),
  errors: ['no_vaults_configured'],
  cacheControl: 'no-store',
  impact: 'Wallets cannot show the list of vaults.',
} as const satisfies EndpointContract
