import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { WebhookResponse } from '../../../lib/webhooks/responses.ts'

export const contract = {
  method: 'GET',
  path: '/webhooks',
  title: 'List webhooks',
  summary: 'Lists your webhooks and how they are, oldest first; their secrets are not told again.',
  tag: 'Webhooks',
  caller: 'client',
  uses: { webhooks: ['GetItem', 'BatchGetItem'] },
  request: {},
  response: z.object({ webhooks: z.array(WebhookResponse).describe('Oldest first; ten at most') }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Clients cannot see their webhooks, and whether these take what is sent.',
} as const satisfies EndpointContract
