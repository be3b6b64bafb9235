import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'ANY',
  path: '$default',
  title: 'Answer unknown route',
  summary:
    'Answers all other requests with 404; with 405 for another method of a known path; with 400 for an empty path parameter.',
  tag: 'System',
  caller: 'anyone',
  uses: {},
  request: { query: z.object({}).catchall(z.string()) },
  response: z.never(),
  errors: ['not_found', 'method_not_allowed'],
  cacheControl: 'no-store',
  impact: 'Requests to unknown routes get the gateway’s own error instead of ours.',
} as const satisfies EndpointContract
