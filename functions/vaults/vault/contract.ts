import * as z from 'zod'
import { EvidenceList } from '../../../lib/chain/evidence.ts'
import { VaultChainIdText } from '../../../lib/chain/registry.ts'
import { VaultAddress } from '../../../lib/core/codecs.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { VaultResponse } from '../../../lib/vaults/response.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/vault/{vaultAddress}',
  title: 'Get vault',
  summary: "Returns one of the client's vaults with its live yield and on-chain state, as in the list.",
  tag: 'Vaults',
  caller: 'client',
  uses: { deposits: ['Query', 'BatchGetItem'], cache: ['BatchGetItem'], config: true },
  request: {
    path: z.object({ vaultAddress: VaultAddress }),
    query: z.object({
      chainId: VaultChainIdText,
    }),
  },
  response: VaultResponse.extend({ evidence: EvidenceList }),
  errors: ['chain_not_allowed', 'vault_not_allowed', 'ambiguous_vault_address', 'vault_not_found'],
  cacheControl: 'no-store',
  impact: 'Wallets cannot show a single vault.',
} as const satisfies EndpointContract
