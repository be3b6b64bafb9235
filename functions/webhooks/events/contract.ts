import * as z from 'zod'
import { numberText } from '../../../lib/core/codecs.ts'
import { field } from '../../../lib/core/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { WebhookEvent } from '../../../lib/webhooks/event.ts'

export const contract = {
  method: 'GET',
  path: '/webhooks/events',
  title: 'List events',
  summary: 'Lists the events of the last 30 days in order of `sequence`, delivered or not.',
  tag: 'Webhooks',
  caller: 'client',
  uses: { webhooks: ['Query'] },
  request: {
    query: z.object({
      after: field(numberText(0, 999_999_999_999), 'invalid_after')
        .optional()
        .describe(
          'The `sequence` of your last event: the list starts after it. Left out: the list starts with the oldest event',
        ),
      limit: field(numberText(1, 100), 'invalid_limit').default(50).describe('Maximum number of events, 1 to 100'),
    }),
  },
  response: z.object({
    events: z
      .array(WebhookEvent)
      .describe(
        'Events in order of `sequence`. Empty: no more events for now. Fewer than `limit`: there can still be more',
      ),
  }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Clients cannot get missed events again.',
} as const satisfies EndpointContract
