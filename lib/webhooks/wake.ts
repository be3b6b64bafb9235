import type { WebhookKey } from './webhook.ts'

/** Has the pending events of these clients moved into their logs soon; throws when that is not certain. */
export type WakeRelays = (messages: readonly { readonly clientId: string }[]) => Promise<void>

/** A message of the queue of deliveries: this webhook may have something to be sent. */
export type Wake = WebhookKey & {
  /** Of a message that is held back, for longer than the queue does at once: the moment at which it is meant. */
  readonly timerAt?: number | undefined
}

/**
 * Has these webhooks sent what they were not sent yet: soon, or after whole seconds, 900 at most. Throws when that is not
 * certain.
 */
export type WakeDeliveries = (messages: readonly Wake[], options?: { readonly delaySeconds?: number }) => Promise<void>
