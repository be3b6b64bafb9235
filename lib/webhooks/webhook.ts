import * as z from 'zod'
import { Timestamp } from '../core/codecs.ts'
import { EventType, type WebhookEvent } from './event.ts'

const MAX_CHARACTERS = 2048

/**
 * Events that a webhook gets: with `final` only final events, with `latest` also earlier ones, which a reorganisation
 * can undo.
 */
export const EventFinality = z.enum(['final', 'latest'])
export type EventFinality = z.output<typeof EventFinality>

/** Reason why a webhook is disabled: its server responded with 410, or all deliveries failed for three days. */
export const DisabledReason = z.enum(['gone', 'failing'])
export type DisabledReason = z.output<typeof DisabledReason>

/** A webhook's URL: https, or http on the local machine. It has no user name, password or fragment. */
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

/**
 * Versions of a webhook's signing secret. The secret is derived from its version (lib/webhooks/secret.ts). The previous
 * version also signs until `until`.
 */
export const SecretVersions = z.object({
  version: z.string(),
  before: z.object({ version: z.string(), until: Timestamp }).optional(),
})
export type SecretVersions = z.output<typeof SecretVersions>

const Millis = z.number().int()

/**
 * State of a webhook that is behind (has missed events), because its server failed. Its events are not queued. A retry
 * sends them from the log.
 */
export const BehindState = z.object({
  /**
   * Sequence number of the first event that the webhook has possibly not accepted. The retry begins with this event.
   */
  from: z.number().int(),
  probeAt: Millis,
  /** Time until which one function run has claimed the webhook, so that no other run retries it. */
  claimedUntil: Millis.optional(),
  /**
   * True once a retry has sent the webhook all missed events in the log. From then on, new events are queued as soon as
   * they are logged. Events logged just before that are not queued yet, so the retry queues them.
   */
  isLive: z.boolean().default(false),
})
export type BehindState = z.output<typeof BehindState>

/** An endpoint that a client registered for events. */
export const Webhook = z.object({
  id: z.string(),
  /** Version of this webhook, which changes with each write, so that writers detect other changes. */
  version: z.string(),
  url: z.string(),
  /** Types of events that the webhook gets; null for all types, including future ones. */
  types: z.array(EventType).nullable(),
  finality: EventFinality,
  secret: SecretVersions,
  createdAt: Timestamp,
  /** Sequence number of the last event before the registration. Only later events are sent. */
  after: z.number().int().nonnegative(),
  behind: BehindState.optional(),
  disabledAt: Timestamp.optional(),
  disabledReason: DisabledReason.optional(),
})
export type Webhook = z.output<typeof Webhook>

/** Key of a client's webhook. */
export type WebhookKey = { readonly clientId: string; readonly webhookId: string }

/** Maximum number of webhooks of a client. */
export const MAX_WEBHOOKS = 10

/** True if the webhook gets this event, by its type, finality and sequence number. */
export function isSubscribedTo(
  { types, finality, after }: Pick<Webhook, 'types' | 'finality' | 'after'>,
  event: WebhookEvent,
) {
  const isAsked = (event.final || finality === 'latest') && (types?.includes(event.type) ?? true)
  return isAsked && event.sequence > after
}

/** True if new events are queued for a webhook. It is then not disabled, and has no missed events that must be sent first. */
export function isLiveWebhook({ disabledAt, behind }: Pick<Webhook, 'disabledAt' | 'behind'>): boolean {
  return disabledAt === undefined && (behind === undefined || behind.isLive)
}
