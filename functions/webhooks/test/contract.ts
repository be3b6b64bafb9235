import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { WebhookPath } from '../../../lib/webhooks/responses.ts'
import { SendFailure } from '../../../lib/webhooks/sent.ts'

export const contract = {
  method: 'POST',
  path: '/webhooks/{id}/test',
  title: 'Test webhook',
  summary:
    'Sends a webhook an event of the type `webhook.test` at once and says what came of it; one that takes it is switched on again, and told what it was not told yet.',
  tag: 'Webhooks',
  caller: 'client',
  uses: { webhooks: ['GetItem', 'UpdateItem'], webhookKey: true, webhookReach: true, deliveryQueue: true },
  request: { path: WebhookPath },
  response: z
    .object({
      delivered: z.boolean().describe('Whether it answered with 2xx within 5 seconds'),
      status: z.number().int().nullable().describe('The HTTP status of its answer; null where there was none'),
      reason: SendFailure.nullable().describe(
        'Why it was not delivered: not_allowed, its name leads to an address that is not public; unresolved, its name has no address; connection, it was not there or hung up; tls, its certificate is not good; timeout, it took longer than 5 seconds; redirect, no redirect is followed; status, its answer was not 2xx; bad_answer, that was no HTTP. Null where it was',
      ),
    })
    .meta({ id: 'WebhookTest' }),
  errors: ['webhook_not_found', 'too_many_requests'],
  cacheControl: 'no-store',
  impact: 'Clients cannot try their webhooks, and not switch them on again.',
} as const satisfies EndpointContract
