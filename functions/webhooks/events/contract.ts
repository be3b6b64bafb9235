import * as z from 'zod'
import { numberText } from '../../../lib/codecs.ts'
import { field } from '../../../lib/field.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { WebhookEvent } from '../../../lib/webhooks/event.ts'

export const contract = {
  method: 'GET',
  path: '/webhooks/events',
  title: 'List events',
  summary: 'Lists what happened in your vaults in the last 30 days, in the order of its sequence.',
  tag: 'Webhooks',
  caller: 'client',
  uses: { webhooks: ['Query'] },
  request: {
    query: z.object({
      after: field(numberText(0, 999_999_999_999), 'invalid_after')
        .optional()
        .describe('The sequence of the last event that you have; from the first that is kept, unless given'),
      limit: field(numberText(1, 100), 'invalid_limit').default(50).describe('1 to 100'),
    }),
  },
  response: z.object({
    events: z.array(WebhookEvent).describe('None where there are no more for now; fewer than `limit` say nothing'),
  }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Clients cannot get events again that they missed.',
} as const satisfies EndpointContract
