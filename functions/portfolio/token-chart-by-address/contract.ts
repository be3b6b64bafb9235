import * as z from 'zod'
import { UPSTREAM_ERRORS } from '../../../lib/core/errors.ts'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { ChainParameter } from '../../../lib/markets/address.ts'
import { ChartQuery, ChartResponse } from '../../../lib/markets/chart-response.ts'

export const contract = {
  method: 'GET',
  path: '/portfolio-indexor/token/address/{network}/{address}',
  title: 'Get token chart',
  summary: "Returns a token's price history, by network and token address.",
  tag: 'Portfolio',
  caller: 'client',
  uses: { cache: ['BatchGetItem', 'GetItem', 'UpdateItem', 'PutItem'], config: true },
  request: {
    path: z.object({
      network: field(ChainParameter, 'unsupported_network'),
      address: field(z.string().max(64), 'token_not_found').describe(
        "The token's contract; `native`, 0xEeee…EEeE or 0x000…000 for the chain's own coin",
      ),
    }),
    query: ChartQuery,
  },
  response: ChartResponse,
  errors: ['too_many_requests', ...UPSTREAM_ERRORS],
  cacheControl: 'public, max-age=60',
  aged: true,
  impact: 'Users cannot see the price charts of tokens.',
} as const satisfies EndpointContract
