import * as z from 'zod'
import { UPSTREAM_ERRORS } from '../../../lib/core/errors.ts'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { ChartQuery, ChartResponse } from '../../../lib/markets/chart-response.ts'
import { CoinId } from '../../../lib/markets/coin.ts'

export const contract = {
  method: 'GET',
  path: '/portfolio-indexor/token/id/{id}',
  title: 'Get coin chart',
  summary: "Returns a coin's price history, by CoinGecko id.",
  tag: 'Portfolio',
  caller: 'client',
  uses: { cache: ['BatchGetItem', 'GetItem', 'UpdateItem', 'PutItem'], config: true },
  request: { path: z.object({ id: field(CoinId, 'token_not_found') }), query: ChartQuery },
  response: ChartResponse,
  errors: ['too_many_requests', ...UPSTREAM_ERRORS],
  cacheControl: 'public, max-age=60',
  aged: true,
  impact: 'Users cannot see price charts.',
} as const satisfies EndpointContract
