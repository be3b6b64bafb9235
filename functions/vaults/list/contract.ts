import * as z from 'zod'
import { ChainId } from '../../../lib/chain/registry.ts'
import { Address } from '../../../lib/codecs.ts'
import type { EndpointContract } from '../../../lib/lambda/contract.ts'
import { ChainsEnv, ClientsEnv, DepositsEnv } from '../../../lib/lambda/env.ts'
import { StateAsOf, VaultState } from '../../../lib/vaults/vault-state.ts'

export const contract = {
  method: 'GET',
  path: '/defi-vaults/v1/vaults',
  summary: 'Lists the vaults configured for the client, with their live yield and on-chain state.',
  tag: 'Vaults',
  caller: 'client',
  env: z.object({ ...ClientsEnv.shape, ...DepositsEnv.shape, ...ChainsEnv.shape }),
  request: {},
  invalid: {},
  response: z.object({
    success: z.literal(true),
    data: z.array(
      z.object({
        poolId: z.string(),
        chainId: ChainId,
        name: z.string(),
        logo_url: z.string(),
        riskProfile: z.string(),
        riskProtocol: z.string(),
        poolAddress: Address,
        depositTokenAddress: Address,
        yieldTokenAddress: Address,
        type: z.enum(['async', 'sync']),
        MaxCap: z.boolean(),
        protocol: z.literal('lagoon').optional().meta({ description: 'Async vaults only' }),
        curatorAddress: Address.optional().meta({ description: 'Async vaults only' }),
        valuationManager: Address.optional().meta({ description: 'Async vaults only' }),
        description: z.string(),
        APY: z.string().meta({ description: 'Percent with two decimals; "0.00" with no history yet' }),
        vaultState: VaultState.optional().meta({ description: 'Async vaults only; left out when never read' }),
        stateAsOf: StateAsOf.nullable()
          .optional()
          .meta({ description: 'Async vaults only; null when the state was never read' }),
      }),
    ),
  }),
  errors: ['no_vaults_configured'],
  cacheControl: 'no-store',
  impact: 'Wallets cannot show the list of vaults.',
} as const satisfies EndpointContract
