import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { RotatedSecret, WebhookPath } from '../../../lib/webhooks/responses.ts'

export const contract = {
  method: 'POST',
  path: '/webhooks/{id}/secret',
  title: 'Rotate webhook secret',
  summary:
    'Gives a webhook a new secret. For 24 hours the service signs each delivery with both secrets, new and previous.',
  tag: 'Webhooks',
  caller: 'client',
  uses: { webhooks: ['GetItem', 'UpdateItem'], webhookKey: true },
  request: { path: WebhookPath },
  response: RotatedSecret,
  errors: ['webhook_not_found'],
  cacheControl: 'no-store',
  impact: 'Clients cannot change the secrets of their webhooks.',
} as const satisfies EndpointContract
