import * as z from 'zod'
import type { EventLocation } from './log-store.ts'
import type { WebhookKey } from './webhook.ts'

const webhook = { clientId: z.string(), webhookId: z.string() }

/** A queued delivery: one event for one webhook, by its place in the log. */
export const EventMessage = z.object({
  ...webhook,
  sequence: z.number().int(),
  page: z.number().int().describe('Sequence of the first event of its page'),
})
export type EventMessage = z.output<typeof EventMessage>

/** A queued probe of a webhook that is behind. */
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

/** Hides a received message in SQS for whole seconds, at most 12 hours; then SQS delivers it again. */
export type Postpone = (receipt: string, seconds: number) => Promise<void>

/** Builds the messages of events for a webhook. */
export function buildEventMessages(
  { clientId, webhookId }: WebhookKey,
  events: readonly EventLocation[],
): EventMessage[] {
  return events.map(({ sequence, page }) => ({ clientId, webhookId, sequence, page }))
}

/** Returns the message group, the webhook: a busy webhook does not delay the others. */
export function parseMessageGroup({ webhookId }: DeliveryMessage): string {
  return webhookId
}
