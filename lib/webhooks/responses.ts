import * as z from 'zod'
import { Timestamp } from '../codecs.ts'
import { field } from '../field.ts'
import { EventType } from './event.ts'
import type { WebhooksStore } from './store.ts'
import { DisabledReason, Finality, type Webhook, WebhookUrl } from './webhook.ts'

/** The same as `EventType`; what is none of them is not answered with all of them. */
const KnownType = z.enum(EventType.options, 'must be a type of events')

/** A webhook that is to be registered. */
export const NewWebhook = z.strictObject({
  url: field(WebhookUrl, 'missing_or_invalid_url').describe('An https URL on port 443, at most 2,048 characters long'),
  types: field(z.array(KnownType).min(1).max(100), 'invalid_types')
    .optional()
    .describe('The types of events that it is told; all of them, also those that are added later, unless given'),
  finality: field(Finality, 'invalid_finality')
    .default('final')
    .describe(
      'final: events are told once no reorganisation can change them. latest: they are told before too, and what a reorganisation undoes is told as reverted',
    ),
})
export type NewWebhook = z.output<typeof NewWebhook>

/** The id of a webhook in a path. */
export const WebhookPath = z.object({
  id: field(z.string().max(100), 'webhook_not_found').describe('As the list names it'),
})

const registered = {
  id: z.string().describe('The same whenever it is registered'),
  url: z.string().describe('Where events are sent'),
  types: z.array(EventType).nullable().describe('Null for all, also those that are added later'),
  finality: Finality.describe('latest: it is told before an event is final too'),
  createdAt: Timestamp,
}

const Secret = z
  .string()
  .describe(
    '`whsec_` and base64, as Standard Webhooks has it: deliveries are signed with it. Nobody can ask for it again',
  )

/** A webhook that was registered just now, with its secret. */
export const RegisteredWebhook = z
  .object({ ...registered, secret: Secret })
  .meta({ id: 'RegisteredWebhook', description: 'A webhook that was registered just now, with its secret' })

/** A webhook as callers see it. */
export const WebhookResponse = z
  .object({
    ...registered,
    status: z.enum(['active', 'disabled']).describe('disabled: nothing is sent until a test of it succeeds'),
    disabledAt: Timestamp.nullable().describe('Null while it is active'),
    disabledReason: DisabledReason.nullable().describe(
      'gone: it answered 410. failing: it took nothing for three days. Null while it is active',
    ),
    failingSince: Timestamp.nullable().describe(
      'Since when it has taken nothing of what was sent; null while it takes something',
    ),
  })
  .meta({ id: 'Webhook', description: 'An endpoint of yours, and how it takes what is sent' })

export type WebhookResponse = z.output<typeof WebhookResponse>

/** A new secret of a webhook. */
export const RotatedSecret = z.object({
  id: z.string().describe('Of the webhook'),
  secret: Secret,
  previousUntil: Timestamp.describe('Until then the secret before signs too: accept both'),
})

/** A client's webhooks and how they are, oldest first. */
export async function listStatuses(
  webhooks: Pick<WebhooksStore, 'list' | 'listFailing'>,
  clientId: string,
): Promise<WebhookResponse[]> {
  const registered = await webhooks.list(clientId)
  const failing = await webhooks.listFailing(
    clientId,
    registered.map(({ id }) => id),
  )
  return registered.map((webhook) => ({
    ...describeWebhook(webhook),
    status: webhook.disabledAt ? 'disabled' : 'active',
    disabledAt: webhook.disabledAt ?? null,
    disabledReason: webhook.disabledReason ?? null,
    failingSince: failing.get(webhook.id) ?? null,
  }))
}

/** What of a webhook its client sees at any time. */
export function describeWebhook({ id, url, types, finality, createdAt }: Webhook) {
  return { id, url, types, finality, createdAt }
}
