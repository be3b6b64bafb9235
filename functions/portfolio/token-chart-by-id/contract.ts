import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { CacheEnv, ChainsEnv, ClientsEnv } from '../../../lib/frame/env.ts'
import { ChartQuery, ChartResponse } from '../../../lib/markets/chart-response.ts'
import { CoinId } from '../../../lib/markets/coin.ts'

export const contract = {
  method: 'GET',
  path: '/portfolio-indexor/token/id/{id}',
  summary: "Tells the prices of a token over time, by CoinGecko's id.",
  tag: 'Portfolio',
  caller: 'client',
  env: z.object({ ...ClientsEnv.shape, ...CacheEnv.shape, ...ChainsEnv.shape }),
  request: { path: z.object({ id: CoinId }), query: ChartQuery },
  invalid: { id: 'token_not_found', currency: 'unsupported_currency', days: 'invalid_days' },
  response: ChartResponse,
  errors: ['upstream_bad_answer', 'upstream_unavailable', 'upstream_timeout'],
  cacheControl: 'public, max-age=60',
  aged: true,
  impact: 'Users cannot see price charts.',
} as const satisfies EndpointContract
