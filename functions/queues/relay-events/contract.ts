import * as z from 'zod'
import type { QueueContract } from '../../../lib/frame/contract.ts'

export const contract = {
  summary: 'Gives what happened its place in the log of a client, and wakes the webhooks that want to be told of it.',
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
  impact: 'Clients are told late of what happens in their vaults, and their logs end before it.',
} as const satisfies QueueContract
