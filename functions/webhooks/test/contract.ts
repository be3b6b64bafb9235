import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { FailureReason, WebhookPath } from '../../../lib/webhooks/responses.ts'

export const contract = {
  method: 'POST',
  path: '/webhooks/{id}/test',
  title: 'Test webhook',
  summary:
    'Sends a `webhook.test` event at once and answers whether it was delivered. A success ends the pause of a webhook that takes nothing; a disabled one is switched on again, and sent all that it did not take.',
  tag: 'Webhooks',
  caller: 'client',
  uses: { webhooks: ['GetItem', 'UpdateItem'], webhookKey: true, webhookReach: true, deliveryQueue: true },
  request: { path: WebhookPath },
  response: z
    .object({
      delivered: z.boolean().describe('Whether the endpoint answered 2xx within 5 seconds'),
      status: z.number().int().nullable().describe('The HTTP status of the answer; null where there was none'),
      reason: FailureReason.nullable().describe(`${FailureReason.description}. Null where it was delivered`),
    })
    .meta({ id: 'WebhookTest' }),
  errors: ['webhook_not_found', 'too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Clients cannot try their webhooks, and not switch them on again.',
} as const satisfies EndpointContract
