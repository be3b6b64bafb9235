import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { CacheEnv, ChainsEnv, ClientsEnv } from '../../../lib/frame/env.ts'
import { Network } from '../../../lib/markets/address.ts'
import { ChartQuery, ChartResponse } from '../../../lib/markets/chart-response.ts'

export const contract = {
  method: 'GET',
  path: '/portfolio-indexor/token/address/{network}/{address}',
  summary: 'Tells the prices of a token over time, by its network and its address there.',
  tag: 'Portfolio',
  caller: 'client',
  env: z.object({ ...ClientsEnv.shape, ...CacheEnv.shape, ...ChainsEnv.shape }),
  request: {
    path: z.object({
      network: Network,
      address: z
        .string()
        .max(64)
        .describe("The token's contract; `native`, 0xEeee…EEeE or 0x000…000 for the chain's own coin"),
    }),
    query: ChartQuery,
  },
  invalid: {
    network: 'unsupported_network',
    address: 'token_not_found',
    currency: 'unsupported_currency',
    days: 'invalid_days',
  },
  response: ChartResponse,
  errors: ['upstream_bad_answer', 'upstream_unavailable', 'upstream_timeout'],
  cacheControl: 'public, max-age=60',
  aged: true,
  impact: 'Users cannot see the price charts of tokens.',
} as const satisfies EndpointContract
