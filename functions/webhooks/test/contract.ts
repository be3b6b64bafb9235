import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { FailureReason, WebhookPath } from '../../../lib/webhooks/responses.ts'

export const contract = {
  method: 'POST',
  path: '/webhooks/{id}/test',
  title: 'Test webhook',
  summary:
    'Sends a `webhook.test` event immediately and returns whether it was delivered. After a success, a webhook that is behind gets its events immediately. A disabled webhook is enabled, and gets all events that it missed.',
  tag: 'Webhooks',
  caller: 'client',
  uses: {
    webhooks: ['GetItem', 'BatchGetItem', 'UpdateItem'],
    webhookKey: true,
    webhookReach: true,
    deliveryQueue: true,
  },
  request: { path: WebhookPath },
  response: z
    .object({
      delivered: z.boolean().describe('True if the endpoint returned 2xx within 5 seconds'),
      status: z.number().int().nullable().describe("HTTP status of the endpoint's response; null if there was none"),
      reason: FailureReason.nullable().describe(`${FailureReason.description}. Null if delivered`),
    })
    .meta({ id: 'WebhookTest' }),
  errors: ['webhook_not_found', 'too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Clients cannot test their webhooks or enable them again.',
} as const satisfies EndpointContract
