import * as z from 'zod'
import type { QueueContract } from '../../../lib/frame/contract.ts'

export const contract = {
  summary: "Sends waiting events to a client's webhook.",
  uses: {
    webhooks: ['GetItem', 'BatchGetItem', 'Query', 'UpdateItem'],
    webhookKey: true,
    webhookReach: true,
    deliveryQueue: true,
  },
  queue: 'deliveryQueue',
  message: z.object({
    clientId: z.string(),
    webhookId: z.string(),
    timerAt: z.number().int().optional().describe('Epoch milliseconds at which a delayed message is due'),
  }),
  report: z.object({
    delivered: z.number().int(),
    failed: z.number().int(),
    givenUp: z.number().int().describe('Events that the service no longer sends until the webhook is resumed'),
  }),
  timeoutSeconds: 30,
  // Thirty webhooks side by side.
  mostAtATime: 3,
  // For what is due later, by one timer a webhook, which ends with what it waits for; and for what is
  // left when its turn is over, until its log ends.
  wakesItself: true,
  impact: 'Webhooks receive events late; the event log has them.',
} as const satisfies QueueContract
