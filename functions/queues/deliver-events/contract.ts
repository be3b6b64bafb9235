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
  // Up to three Lambdas run in parallel, so there are up to thirty deliveries.
  maxConcurrency: 3,
  // The queue's messages include retries that test whether a failing webhook works again, at most one per webhook. They end once the
  // webhook works, is disabled or removed.
  enqueuesItself: true,
  impact: 'Webhooks receive events late; the event log has them.',
} as const satisfies QueueContract
