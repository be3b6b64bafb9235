import * as z from 'zod'
import { Timestamp } from '../codecs.ts'
import { EventType, type WebhookEvent } from './event.ts'

const MOST_CHARACTERS = 2048

/** Which events a webhook is told: those alone that are final, or besides, and first, those that a reorganisation can undo. */
export const Finality = z.enum(['final', 'latest'])
export type Finality = z.output<typeof Finality>

/** Why nothing is sent to a webhook any more: it said that it is gone, or has taken nothing for three days. */
export const DisabledReason = z.enum(['gone', 'failing'])
export type DisabledReason = z.output<typeof DisabledReason>

/** A URL as it is called: https, or http on one machine; without a user name, a password and a fragment. */
export const WebhookUrl = z.codec(
  z.string().meta({ format: 'uri', maxLength: MOST_CHARACTERS }),
  z.string().max(MOST_CHARACTERS),
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
 * Which secrets sign: each is made of a version (lib/webhooks/secret.ts). After a rotation the one before signs beside the
 * new one, until its end.
 */
export const SecretVersions = z.object({
  version: z.string(),
  before: z.object({ version: z.string(), until: Timestamp }).optional(),
})
export type SecretVersions = z.output<typeof SecretVersions>

/** An endpoint that a client registered, to be told what happens in its vaults. */
export const Webhook = z.object({
  id: z.string(),
  url: z.string(),
  /** Null for all types, also for those that there are not yet. */
  types: z.array(EventType).nullable(),
  finality: Finality,
  secret: SecretVersions,
  createdAt: Timestamp,
  /** The last event of the log before it was registered: it is told those after. */
  after: z.number().int().nonnegative(),
  disabledAt: Timestamp.optional(),
  disabledReason: DisabledReason.optional(),
})
export type Webhook = z.output<typeof Webhook>

/** Which webhook of whom. */
export type WebhookKey = { readonly clientId: string; readonly webhookId: string }

/** How many webhooks a client can have. */
export const MOST_WEBHOOKS = 10

/** Whether a webhook is told of an event. */
export function wants({ types, finality }: Pick<Webhook, 'types' | 'finality'>, event: WebhookEvent): boolean {
  return (event.final || finality === 'latest') && (types?.includes(event.type) ?? true)
}
