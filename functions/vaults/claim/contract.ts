import * as z from 'zod'
import { ChainId, VaultChainId } from '../../../lib/chain/registry.ts'
import { SimulationResult } from '../../../lib/chain/simulation-result.ts'
import { Transaction } from '../../../lib/chain/transaction.ts'
import { Amount, UserAddress, VaultAddress } from '../../../lib/codecs.ts'
import { UPSTREAM_ERRORS } from '../../../lib/errors.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { RequestKind } from '../../../lib/protocols/request-kind.ts'

export const contract = {
  method: 'POST',
  path: '/defi-vaults/v1/defi/vault/claim',
  summary:
    'Builds the transaction that claims what is settled in an async vault: shares of a deposit, assets of a withdrawal.',
  tag: 'Vaults',
  caller: 'client',
  uses: { config: true },
  request: {
    body: z.strictObject({
      vaultAddress: VaultAddress,
      userAddress: UserAddress,
      kind: RequestKind.default('deposit'),
      chainId: VaultChainId,
    }),
  },
  response: z.object({
    approval: z.array(Transaction).describe('Always empty'),
    operations: z.array(Transaction),
    protocol: z.string(),
    chainId: ChainId,
    estimatedGas: Amount.describe('Gas units'),
    isCrossChain: z.literal(false),
    isAsync: z.literal(true),
    simulation: SimulationResult,
    claimable: z.object({ assets: Amount, shares: Amount }).describe('What the claim turns into what'),
  }),
  errors: [
    'ambiguous_vault_address',
    'vault_not_found',
    'claim_not_applicable',
    'no_claimable_deposit',
    'no_claimable_withdrawal',
    'vault_is_paused',
    'depositor_not_allowed',
    ...UPSTREAM_ERRORS,
  ],
  cacheControl: 'no-store',
  impact: 'Users cannot claim what settled deposits and withdrawals give.',
} as const satisfies EndpointContract
