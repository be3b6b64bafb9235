import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { WebhookResponse } from '../../../lib/webhooks/responses.ts'

export const contract = {
  method: 'GET',
  path: '/webhooks',
  title: 'List webhooks',
  summary: 'Lists your webhooks, oldest first, with the state of their deliveries. It does not show secrets.',
  tag: 'Webhooks',
  caller: 'client',
  uses: { webhooks: ['GetItem', 'BatchGetItem'] },
  request: {},
  response: z.object({ webhooks: z.array(WebhookResponse).describe('Oldest first, at most ten') }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Clients cannot see their webhooks or the state of their deliveries.',
} as const satisfies EndpointContract
