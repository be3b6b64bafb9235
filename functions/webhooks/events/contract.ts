import * as z from 'zod'
import { numberText } from '../../../lib/codecs.ts'
import { field } from '../../../lib/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { WebhookEvent } from '../../../lib/webhooks/event.ts'

export const contract = {
  method: 'GET',
  path: '/webhooks/events',
  title: 'List events',
  summary: 'Lists the events of the last 30 days in the order of `sequence`, whether they were delivered or not.',
  tag: 'Webhooks',
  caller: 'client',
  uses: { webhooks: ['Query'] },
  request: {
    query: z.object({
      after: field(numberText(0, 999_999_999_999), 'invalid_after')
        .optional()
        .describe(
          'The `sequence` of the last event that you have: the list begins with the next one. Left out: it begins with the oldest event that is kept',
        ),
      limit: field(numberText(1, 100), 'invalid_limit').default(50).describe('The most events in one answer, 1 to 100'),
    }),
  },
  response: z.object({
    events: z
      .array(WebhookEvent)
      .describe(
        'In the order of `sequence`. An empty list: there are no more events for now. A list shorter than `limit` is not the last one',
      ),
  }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Clients cannot get events again that they missed.',
} as const satisfies EndpointContract
