import * as z from 'zod'
import { Timestamp } from '../codecs.ts'
import { field } from '../field.ts'
import { failingSince, listGivenUp, nextDueAt, stateOf } from './delivery-state.ts'
import type { DeliveryStore } from './delivery-store.ts'
import { EventType } from './event.ts'
import { SendFailure } from './sent.ts'
import type { WebhooksStore } from './store.ts'
import { DisabledReason, Finality, type Webhook, WebhookUrl } from './webhook.ts'

/** Of the types that are unknown an error quotes so many, each cut to so many characters. */
const [QUOTED_TYPES, QUOTED_CHARACTERS] = [3, 40]

/** Types of events; an error says which are unknown, and which there are. */
export const EventTypes = z
  .array(z.string().meta({ enum: EventType.options }))
  .min(1, 'must name one type or more; left out, all are sent')
  .max(100)
  .check(({ value, issues }) => {
    const unknown = value.filter((type) => !EventType.safeParse(type).success)
    if (unknown.length === 0) return
    const quoted = unknown.slice(0, QUOTED_TYPES).map((type) => JSON.stringify(type.slice(0, QUOTED_CHARACTERS)))
    const message = `has unknown types, as ${quoted.join(', ')}; known are ${EventType.options.join(', ')}`
    issues.push({ code: 'custom', message, input: value })
  })
  .pipe(z.array(EventType))

/** A webhook that is to be registered. */
export const NewWebhook = z.strictObject({
  url: field(WebhookUrl, 'missing_or_invalid_url').describe('An https URL on port 443, at most 2,048 characters long'),
  types: field(EventTypes, 'invalid_types')
    .optional()
    .describe('The types of events that are sent to it. Left out: all, including types that are added later'),
  finality: field(Finality, 'invalid_finality')
    .default('final')
    .describe(
      'final: an event is sent once its block is final. latest: it is sent before that too, with `final: false`, and a `….reverted` event is sent where a reorganisation removes it',
    ),
})
export type NewWebhook = z.output<typeof NewWebhook>

/** The id of a webhook in a path. */
export const WebhookPath = z.object({
  id: field(z.string().max(100), 'webhook_not_found').describe('The id of the webhook, as `GET /webhooks` lists it'),
})

const registered = {
  id: z.string().describe('The id of the webhook; the same URL always has the same one'),
  url: z.string().describe('The URL to which events are sent'),
  types: z
    .array(EventType)
    .nullable()
    .describe('The types of events that are sent; null for all, including types that are added later'),
  finality: Finality.describe('final: events are sent when they are final. latest: also before'),
  createdAt: Timestamp,
}

const Secret = z
  .string()
  .describe(
    'The key that signs deliveries, in the format of Standard Webhooks: `whsec_` and base64. It is shown here once: store it',
  )

/** A webhook that was registered just now, with its secret. */
export const RegisteredWebhook = z
  .object({ ...registered, secret: Secret })
  .meta({ id: 'RegisteredWebhook', description: 'The webhook that was registered, with its secret' })

/** Why a delivery failed, as callers see it. */
export const FailureReason = SendFailure.describe(
  'Why it was not delivered. not_allowed: the host name leads to an address that is not public. unresolved: the host name has no IPv4 address. connection: the connection was refused or closed. tls: the certificate is not valid. timeout: there was no answer within 5 seconds. redirect: the answer was a redirect, which is not followed. status: the answer was not 2xx. bad_answer: the answer was not HTTP',
)

/** How deliveries to a webhook go, as callers see it. */
const Delivery = z
  .object({
    lastFailure: z
      .object({
        at: Timestamp.describe('When it failed'),
        reason: FailureReason,
        status: z.number().int().nullable().describe('The HTTP status of the answer; null where there was none'),
      })
      .nullable()
      .describe(
        'The last delivery of an event that failed, whatever succeeded since; null where none failed; tests are not told here',
      ),
    waiting: z
      .number()
      .int()
      .describe(
        'How many events failed and are sent again. While every delivery fails, newer events wait too, and are not counted',
      ),
    nextAttemptAt: Timestamp.nullable().describe(
      'When the next of these is sent, at the earliest; null where none waits, or it is disabled',
    ),
    givenUp: z
      .array(z.number().int())
      .describe(
        'The sequences of events that are sent no more, the newest first, at most 100: they failed ten times, or four where more than 90 waited. `GET /webhooks/events` has them. They are sent again where a test switches a disabled webhook on, and forgotten after 30 days',
      ),
    givenUpBefore: z
      .number()
      .int()
      .describe(
        'How many more were given up before these: they are not sent again, and `GET /webhooks/events` has them',
      ),
  })
  .meta({ id: 'WebhookDelivery', description: 'How deliveries to a webhook go' })

/** A webhook as callers see it. */
export const WebhookResponse = z
  .object({
    ...registered,
    status: z
      .enum(['active', 'disabled'])
      .describe('active: events are sent to it. disabled: nothing is sent until a test succeeds'),
    disabledAt: Timestamp.nullable().describe('When it was switched off; null while it is active'),
    disabledReason: DisabledReason.nullable().describe(
      'Why it was switched off. gone: it answered 410. failing: no delivery succeeded for three days. Null while it is active',
    ),
    failingSince: Timestamp.nullable().describe(
      'Since when every delivery has failed, of at least two events, for whatever reason; null while deliveries succeed, or where none of these events waits any more',
    ),
    delivery: Delivery,
  })
  .meta({
    id: 'Webhook',
    description: 'An endpoint of yours to which events are sent, and whether deliveries to it succeed',
  })

export type WebhookResponse = z.output<typeof WebhookResponse>

/** A new secret of a webhook. */
export const RotatedSecret = z.object({
  id: z.string().describe('The id of the webhook'),
  secret: Secret,
  previousUntil: Timestamp.describe('Until then deliveries are signed with the previous secret too'),
})

/** A client's webhooks and how they are, oldest first. `now` is in epoch milliseconds. */
export async function listStatuses(
  { webhooks, deliveries, now }: Statuses,
  clientId: string,
): Promise<WebhookResponse[]> {
  const registered = await webhooks.list(clientId)
  const states = await deliveries.list(
    clientId,
    registered.map(({ id }) => id),
  )
  return registered.map((webhook) => {
    const state = stateOf(webhook, states.get(webhook.id))
    return {
      ...describeWebhook(webhook),
      status: webhook.disabledAt ? 'disabled' : 'active',
      disabledAt: webhook.disabledAt ?? null,
      disabledReason: webhook.disabledReason ?? null,
      failingSince: momentOf(failingSince(state)),
      delivery: {
        lastFailure: state.lastFailure
          ? { ...state.lastFailure, at: new Date(state.lastFailure.at), status: state.lastFailure.status ?? null }
          : null,
        waiting: Object.keys(state.retries).length,
        nextAttemptAt: webhook.disabledAt ? null : momentOf(nextDueAt(state, now())),
        givenUp: listGivenUp(state, now()).map(({ sequence }) => sequence),
        givenUpBefore: state.givenUpBefore,
      },
    }
  })
}

type Statuses = {
  readonly webhooks: Pick<WebhooksStore, 'list'>
  readonly deliveries: Pick<DeliveryStore, 'list'>
  readonly now: () => number
}

function momentOf(millis: number | undefined): Date | null {
  return millis === undefined ? null : new Date(millis)
}

/** What of a webhook its client sees at any time. */
export function describeWebhook({ id, url, types, finality, createdAt }: Webhook) {
  return { id, url, types, finality, createdAt }
}
