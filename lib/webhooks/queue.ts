import * as z from 'zod'
import type { EventLocation } from './log-store.ts'
import type { WebhookKey } from './webhook.ts'

const webhook = { clientId: z.string(), webhookId: z.string() }

/** A message of the queue of deliveries: one event for one webhook, by its place in the log. */
export const EventMessage = z.object({
  ...webhook,
  sequence: z.number().int(),
  page: z.number().int().describe('Sequence of the first event of its page'),
})
export type EventMessage = z.output<typeof EventMessage>

/** A message of the queue of deliveries: the next probe of a webhook that is behind. */
export const ProbeMessage = z.object({
  ...webhook,
  probeAt: z.number().int().describe('Epoch milliseconds at which it is due'),
})
export type ProbeMessage = z.output<typeof ProbeMessage>

/** A message of the queue of deliveries. */
export type DeliveryMessage = EventMessage | ProbeMessage

/** Sends messages to the queue of deliveries. Throws when one could not be sent; others may have been. */
export type Enqueue = (
  messages: readonly DeliveryMessage[],
  options?: { readonly delaySeconds?: number },
) => Promise<void>

/** Has SQS hand out a received message again after whole seconds, at most 12 hours. */
export type Postpone = (receipt: string, seconds: number) => Promise<void>

/** The messages of events for a webhook. */
export function messagesOf({ clientId, webhookId }: WebhookKey, events: readonly EventLocation[]): EventMessage[] {
  return events.map(({ sequence, page }) => ({ clientId, webhookId, sequence, page }))
}

/** The tenant of a message: one busy webhook keeps no other waiting. */
export function groupOfMessage({ webhookId }: DeliveryMessage): string {
  return webhookId
}
