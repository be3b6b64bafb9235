import * as z from 'zod'
import type { QueueContract } from '../../../lib/frame/contract.ts'

export const contract = {
  summary: "Appends events to a client's log and queues deliveries to the webhooks that want them.",
  uses: {
    webhooks: ['Query', 'GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'BatchWriteItem'],
    eventQueue: true,
    deliveryQueue: true,
  },
  queue: 'eventQueue',
  message: z.object({ clientId: z.string() }),
  report: z.object({ clientId: z.string(), events: z.number().int() }),
  timeoutSeconds: 30,
  mostAtATime: 2,
  // Until nothing of its client is pending: each message that it sends follows pages that it has put into the log.
  wakesItself: true,
  impact: 'Clients hear late of events in their vaults, and their logs lag.',
} as const satisfies QueueContract
