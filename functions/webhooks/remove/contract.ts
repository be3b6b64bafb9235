import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { WebhookPath } from '../../../lib/webhooks/responses.ts'

export const contract = {
  method: 'DELETE',
  path: '/webhooks/{id}',
  title: 'Remove webhook',
  summary: 'Removes a webhook. The service sends it nothing more, not even waiting events.',
  tag: 'Webhooks',
  caller: 'client',
  uses: { webhooks: ['UpdateItem', 'DeleteItem'] },
  request: { path: WebhookPath },
  response: z.undefined(),
  status: 204,
  errors: ['webhook_not_found'],
  cacheControl: 'no-store',
  impact: 'Clients cannot remove webhooks.',
} as const satisfies EndpointContract
