import * as z from 'zod'
import type { QueueContract } from '../../../lib/frame/contract.ts'

export const contract = {
  summary: "Sends a client's webhook the events that it has not been told yet.",
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
    timerAt: z
      .number()
      .int()
      .optional()
      .describe('Epoch milliseconds at which a message was to come that was held back'),
  }),
  report: z.object({
    delivered: z.number().int(),
    failed: z.number().int(),
    givenUp: z.number().int().describe('Events that are sent no more until the webhook is resumed'),
  }),
  timeoutSeconds: 30,
  // Thirty webhooks side by side.
  mostAtATime: 3,
  // For what is due later, by one timer a webhook, which ends with what it waits for; and for what is
  // left when its turn is over, until its log ends.
  wakesItself: true,
  impact: 'Webhooks are told late what happened, and the log of events has it.',
} as const satisfies QueueContract
