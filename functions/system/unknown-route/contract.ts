import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'ANY',
  path: '$default',
  summary:
    'Answers what no other route takes: 404, 405 where the path exists with another method, or 400 where a part is empty.',
  tag: 'System',
  caller: 'anyone',
  uses: {},
  request: { query: z.object({}).catchall(z.string()) },
  response: z.never(),
  errors: ['not_found', 'method_not_allowed'],
  cacheControl: 'no-store',
  impact: 'Requests to unknown routes get the gateway’s own error instead of ours.',
} as const satisfies EndpointContract
