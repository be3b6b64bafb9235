import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { WebhookResponse } from '../../../lib/webhooks/responses.ts'

export const contract = {
  method: 'GET',
  path: '/webhooks',
  title: 'List webhooks',
  summary: 'Lists your webhooks, oldest first, and whether deliveries to them succeed. Secrets are not listed.',
  tag: 'Webhooks',
  caller: 'client',
  uses: { webhooks: ['GetItem', 'BatchGetItem'] },
  request: {},
  response: z.object({ webhooks: z.array(WebhookResponse).describe('Oldest first, at most ten') }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Clients cannot see their webhooks, and whether these take what is sent.',
} as const satisfies EndpointContract
