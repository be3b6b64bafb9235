import * as z from 'zod'
import { ChainId, EVM_CHAINS } from '../../../lib/chain/registry.ts'
import type { JobContract } from '../../../lib/lambda/contract.ts'
import { ChainsEnv, ClientsEnv, DepositsEnv } from '../../../lib/lambda/env.ts'

export const contract = {
  summary: "Records the state of one chain's vaults, so that they can be listed while the chain cannot be read.",
  env: z.object({ ...ClientsEnv.shape, ...DepositsEnv.shape, ...ChainsEnv.shape }),
  event: z.object({ chainId: ChainId }),
  report: z.object({
    chainId: ChainId,
    vaults: z.number().int(),
    recorded: z.number().int(),
    unchanged: z.number().int().describe('The table already held this block or a later one'),
  }),
  everyMinutes: 1,
  runs: EVM_CHAINS.map(({ id }) => ({ chainId: id })),
  impact: 'While a chain cannot be read, the vault list shows older states than it could.',
} as const satisfies JobContract
