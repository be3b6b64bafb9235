import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { NewWebhook, RegisteredWebhook } from '../../../lib/webhooks/responses.ts'

export const contract = {
  method: 'POST',
  path: '/webhooks',
  title: 'Register webhook',
  summary: 'Registers an HTTPS endpoint of yours. The service sends it the events of your vaults from now on.',
  tag: 'Webhooks',
  caller: 'client',
  uses: {
    webhooks: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'],
    deliveryQueue: true,
    webhookKey: true,
    webhookReach: true,
  },
  request: { body: NewWebhook },
  response: RegisteredWebhook,
  status: 201,
  errors: ['webhook_already_registered', 'too_many_webhooks'],
  cacheControl: 'no-store',
  impact: 'Clients cannot register webhooks.',
} as const satisfies EndpointContract
