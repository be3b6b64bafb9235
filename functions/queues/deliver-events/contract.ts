import * as z from 'zod'
import type { QueueContract } from '../../../lib/frame/contract.ts'

export const contract = {
  summary: "Sends a client's webhook the events that it has not been told yet.",
  uses: {
    webhooks: ['GetItem', 'BatchGetItem', 'Query', 'UpdateItem'],
    webhookKey: true,
    webhookReach: true,
    deliveryQueue: true,
    deliveryDeadLetters: true,
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
    event: z
      .object({ sequence: z.number().int(), page: z.number().int() })
      .optional()
      .describe('An event that was given up, to be sent again'),
  }),
  report: z.object({
    delivered: z.number().int(),
    failed: z.number().int(),
    dead: z.number().int().describe('Events that are given up'),
  }),
  timeoutSeconds: 30,
  // Thirty webhooks side by side.
  mostAtATime: 3,
  // For what is due later, by one timer a webhook, which is switched off when it took nothing for three days; and for what is
  // left when its turn is over, until its log ends.
  wakesItself: true,
  impact: 'Webhooks are told late what happened, and the log of events has it.',
} as const satisfies QueueContract
