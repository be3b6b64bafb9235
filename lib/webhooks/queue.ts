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

/**
 * Message of the delivery queue that retries a failing webhook. If the webhook works again, it is sent the events that
 * it missed.
 */
export const ProbeMessage = z.object({
  ...webhook,
  probeAt: z.number().int().describe('Epoch milliseconds at which it is due'),
})
export type ProbeMessage = z.output<typeof ProbeMessage>

/** A message of the delivery queue. */
export type DeliveryMessage = EventMessage | ProbeMessage

/** Sends messages to the delivery queue. Throws if a message could not be sent; other messages may have been sent. */
export type Enqueue = (
  messages: readonly DeliveryMessage[],
  options?: { readonly delaySeconds?: number },
) => Promise<void>

/** Hides a received message in SQS for whole seconds, at most 12 hours. After that time SQS delivers the message again. */
export type Postpone = (receipt: string, seconds: number) => Promise<void>

/** Builds the queue messages of these events for one webhook. */
export function buildEventMessages(
  { clientId, webhookId }: WebhookKey,
  events: readonly EventLogKey[],
): EventMessage[] {
  return events.map(({ sequence, page }) => ({ clientId, webhookId, sequence, page }))
}

/** Returns the webhook's id as the message's group in SQS, so that a busy webhook does not delay other webhooks. */
export function parseMessageGroup({ webhookId }: DeliveryMessage): string {
  return webhookId
}
