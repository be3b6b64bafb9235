import * as z from 'zod'
import type { QueueContract } from '../../../lib/frame/contract.ts'
import { EventMessage, ProbeMessage } from '../../../lib/webhooks/queue.ts'

export const contract = {
  summary: 'Sends events to webhooks, and probes webhooks that are behind.',
  uses: {
    webhooks: ['GetItem', 'BatchGetItem', 'Query', 'UpdateItem'],
    webhookKey: true,
    webhookReach: true,
    deliveryQueue: true,
  },
  queue: 'deliveryQueue',
  message: z.union([EventMessage, ProbeMessage]),
  report: z.object({
    delivered: z.number().int(),
    failed: z.number().int(),
    givenUp: z.number().int().describe('Events that the service no longer sends until the webhook is resumed'),
  }),
  timeoutSeconds: 30,
  // Each of up to three Lambdas processes up to ten messages at once, so up to thirty deliveries run in parallel.
  maxConcurrency: 3,
  // Messages of this queue include retries that test if a failing webhook works again, at most one per webhook. Each
  // retry enqueues the next one, until the webhook works, is disabled or is removed.
  enqueuesItself: true,
  impact: 'Webhooks receive events late; the event log has them.',
} as const satisfies QueueContract
