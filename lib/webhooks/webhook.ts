import * as z from 'zod'
import { Timestamp } from '../core/codecs.ts'
import { EventType, type WebhookEvent } from './event.ts'

const MAX_CHARACTERS = 2048

/** Events that a webhook gets: only final ones, or first also those that a reorganisation can undo. */
export const Finality = z.enum(['final', 'latest'])
export type Finality = z.output<typeof Finality>

/** Reason why a webhook is disabled: a response of 410, or three days of failed deliveries. */
export const DisabledReason = z.enum(['gone', 'failing'])
export type DisabledReason = z.output<typeof DisabledReason>

/** A URL to send to: https, or http on one machine. It has no user name, password or fragment. */
export const WebhookUrl = z.codec(
  z.string().meta({ format: 'uri', maxLength: MAX_CHARACTERS }),
  z.string().max(MAX_CHARACTERS),
  {
    decode: (text, context) => {
      const url = URL.parse(text)
      const isClean = url?.username === '' && url.password === '' && !text.includes('#')
      if (isClean && /^https?:$/.test(url.protocol)) return url.href
      const message = 'must be an https URL without a user name, a password and a fragment'
      context.issues.push({ code: 'custom', message, input: text })
      return z.NEVER
    },
    encode: (url) => url,
  },
)

/** Versions of the signing secrets, which are derived from them (lib/webhooks/secret.ts). The previous version also signs until `until`. */
export const SecretVersions = z.object({
  version: z.string(),
  before: z.object({ version: z.string(), until: Timestamp }).optional(),
})
export type SecretVersions = z.output<typeof SecretVersions>

const Millis = z.number().int()

/** A webhook that is behind: its events are not queued, and a probe continues from its place in the log. */
export const Behind = z.object({
  /** Lowest sequence that it may not have accepted. */
  from: z.number().int(),
  probeAt: Millis,
  /** End of the claim by the function that works on it. */
  claimedUntil: Millis.optional(),
  /** True once it has caught up: events are queued again; those logged meanwhile are still to be queued. */
  isLive: z.boolean().default(false),
})
export type Behind = z.output<typeof Behind>

/** An endpoint that a client registered for events. */
export const Webhook = z.object({
  id: z.string(),
  /** Version of the item; changes with each write. */
  version: z.string(),
  url: z.string(),
  /** Null for all types, including future ones. */
  types: z.array(EventType).nullable(),
  finality: Finality,
  secret: SecretVersions,
  createdAt: Timestamp,
  /** Sequence of the last event before the registration; later events are sent. */
  after: z.number().int().nonnegative(),
  behind: Behind.optional(),
  disabledAt: Timestamp.optional(),
  disabledReason: DisabledReason.optional(),
})
export type Webhook = z.output<typeof Webhook>

/** Key of a client's webhook. */
export type WebhookKey = { readonly clientId: string; readonly webhookId: string }

/** Maximum number of webhooks of a client. */
export const MAX_WEBHOOKS = 10

/** True if a webhook gets an event. */
export function isSubscribedTo(
  { types, finality, after }: Pick<Webhook, 'types' | 'finality' | 'after'>,
  event: WebhookEvent,
) {
  const isAsked = (event.final || finality === 'latest') && (types?.includes(event.type) ?? true)
  return isAsked && event.sequence > after
}

/** True if events are queued for a webhook: it is neither disabled nor behind. */
export function isLive({ disabledAt, behind }: Pick<Webhook, 'disabledAt' | 'behind'>): boolean {
  return disabledAt === undefined && (behind === undefined || behind.isLive)
}
