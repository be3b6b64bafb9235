import * as z from 'zod'
import type { EventLogKey } from './log-store.ts'
import type { WebhookKey } from './webhook.ts'

const webhook = { clientId: z.string(), webhookId: z.string() }

/** Message of the delivery queue: one event for one webhook, by the event's position in the log. */
export const EventMessage = z.object({
  ...webhook,
  sequence: z.number().int(),
  page: z.number().int().describe('Sequence of the first event of its page'),
})
export type EventMessage = z.output<typeof EventMessage>

/** Message of the delivery queue that tests whether a failing webhook works again, and sends it the events it missed. */
export const ProbeMessage = z.object({
  ...webhook,
  probeAt: z.number().int().describe('Epoch milliseconds at which it is due'),
})
export type ProbeMessage = z.output<typeof ProbeMessage>

/** A message of the delivery queue. */
export type DeliveryMessage = EventMessage | ProbeMessage

/** Sends messages to the delivery queue. Throws if one could not be sent; others may have been. */
export type Enqueue = (
  messages: readonly DeliveryMessage[],
  options?: { readonly delaySeconds?: number },
) => Promise<void>

/** Hides a received message in SQS for whole seconds, at most 12 hours. SQS then delivers it again. */
export type Postpone = (receipt: string, seconds: number) => Promise<void>

/** Builds the messages of events for a webhook. */
export function buildEventMessages(
  { clientId, webhookId }: WebhookKey,
  events: readonly EventLogKey[],
): EventMessage[] {
  return events.map(({ sequence, page }) => ({ clientId, webhookId, sequence, page }))
}

/** Returns the webhook's id as the message's group in SQS, so that a busy webhook does not delay the others. */
export function parseMessageGroup({ webhookId }: DeliveryMessage): string {
  return webhookId
}
