import * as z from 'zod'
import { Timestamp } from '../core/codecs.ts'
import { field } from '../core/field.ts'
import { computeFailingSince, computeNextDueAt, listGivenUpEvents, selectAttempts } from './attempts.ts'
import type { AttemptsStore } from './attempts-store.ts'
import { EventType } from './event.ts'
import { SendFailure } from './sent.ts'
import type { WebhooksStore } from './store.ts'
import { DisabledReason, EventFinality, type Webhook, WebhookUrl } from './webhook.ts'

/** Maximum number of unknown event types that an error quotes, and of characters of each. */
const [QUOTED_TYPES, QUOTED_CHARACTERS] = [3, 30]

/** Event types that a webhook gets. The error names unknown types and lists the known ones. */
export const EventTypes = z
  .array(z.string().meta({ enum: EventType.options }))
  .min(1, 'must name at least one type; leave it out for all types')
  .max(100)
  .check(({ value, issues }) => {
    const unknown = value.filter((type) => !EventType.safeParse(type).success)
    if (unknown.length === 0) return
    const quoted = unknown.slice(0, QUOTED_TYPES).map((type) => JSON.stringify(type.slice(0, QUOTED_CHARACTERS)))
    const message = `has unknown types, such as ${quoted.join(', ')}; known types are ${EventType.options.join(', ')}`
    issues.push({ code: 'custom', message, input: value })
  })
  .pipe(z.array(EventType))

/** Body of the request that registers a webhook. */
export const NewWebhook = z.strictObject({
  url: field(WebhookUrl, 'missing_or_invalid_url').describe('An https URL on port 443, at most 2,048 characters long'),
  types: field(EventTypes, 'invalid_types')
    .optional()
    .describe('Event types that the service sends. Left out: all, including future types'),
  finality: field(EventFinality, 'invalid_finality')
    .default('final')
    .describe(
      'final: sends an event once its block is final. latest: also sends it before, with `final: false`, and a `….reverted` event if a reorganisation removes it',
    ),
})
export type NewWebhook = z.output<typeof NewWebhook>

/** Path parameters of requests about one webhook. */
export const WebhookPath = z.object({
  id: field(z.string().max(100), 'webhook_not_found').describe('Webhook id from `GET /webhooks`'),
})

const registered = {
  id: z.string().describe('Webhook id; the same URL always has the same one'),
  url: z.string().describe('URL that receives the events'),
  types: z
    .array(EventType)
    .nullable()
    .describe('Event types that the service sends; null for all, including future types'),
  finality: EventFinality.describe('final: sends events once they are final. latest: also before'),
  createdAt: Timestamp,
}

const Secret = z
  .string()
  .describe('Signing key of the deliveries, as in Standard Webhooks: `whsec_` and base64. Shown once: store it')

/** A newly registered webhook, with its secret. */
export const RegisteredWebhook = z
  .object({ ...registered, secret: Secret })
  .meta({ id: 'RegisteredWebhook', description: 'The registered webhook with its secret' })

/** Reason of a failed delivery, as responses show it. */
export const FailureReason = SendFailure.describe(
  'Failure reason. not_allowed: the host name leads to a non-public address. unresolved: the host name has no IPv4 address. connection: the connection was refused or closed. tls: the certificate is not valid. timeout: no response within 5 seconds. redirect: the response was a redirect, which is not followed. status: the response was not 2xx. bad_answer: the response was not HTTP',
)

const Delivery = z
  .object({
    lastFailure: z
      .object({
        at: Timestamp.describe('Time of the failure'),
        reason: FailureReason,
        status: z.number().int().nullable().describe('HTTP status of the response; null if there was none'),
      })
      .nullable()
      .describe(
        'Last failed delivery of an event, also after later successes; null if none failed. Tests do not count',
      ),
    behindFrom: z
      .number()
      .int()
      .nullable()
      .describe(
        'Lowest `sequence` that waits in the log while the server is down or the webhook is disabled; null otherwise. All events from there on follow once a delivery succeeds',
      ),
    waiting: z
      .number()
      .int()
      .describe('Number of single events that failed and that the service sends again, at most 100'),
    nextAttemptAt: Timestamp.nullable().describe(
      'Earliest time of the next attempt; null if no event waits or the webhook is disabled',
    ),
    givenUp: z
      .array(z.number().int())
      .describe(
        'Sequences of events that the service no longer sends, newest first, at most 100. An event ends here after ten failures, or if 100 others wait when it is refused. `GET /webhooks/events` lists them. If a test enables a disabled webhook, the service sends them again. It forgets them after 30 days',
      ),
    givenUpBefore: z
      .number()
      .int()
      .describe(
        'Number of earlier events given up. The service does not send them again; `GET /webhooks/events` lists them',
      ),
  })
  .meta({ id: 'WebhookDelivery', description: 'State of the deliveries to a webhook' })

/** A webhook with the state of its deliveries, as responses show it. */
export const WebhookResponse = z
  .object({
    ...registered,
    status: z
      .enum(['active', 'disabled'])
      .describe('active: the service sends events. disabled: it sends nothing until a test succeeds'),
    disabledAt: Timestamp.nullable().describe('Time when it was disabled; null while active'),
    disabledReason: DisabledReason.nullable().describe(
      'Reason why it was disabled. gone: it returned 410. failing: no delivery succeeded for three days. Null while active',
    ),
    failingSince: Timestamp.nullable().describe(
      'Time of the first of at least two failures in a row. Null while deliveries succeed, or if no event is waiting',
    ),
    delivery: Delivery,
  })
  .meta({
    id: 'Webhook',
    description: 'An endpoint of yours that receives events, with the state of its deliveries',
  })

export type WebhookResponse = z.output<typeof WebhookResponse>

/** A new secret of a webhook. */
export const RotatedSecret = z.object({
  id: z.string().describe('Webhook id'),
  secret: Secret,
  previousUntil: Timestamp.describe("Time until which deliveries also carry the previous secret's signature"),
})

/** Lists a client's webhooks with the state of their deliveries, oldest first. `now` is in epoch milliseconds. */
export async function listWebhookStatuses(
  { webhooks, attempts, now }: Statuses,
  clientId: string,
): Promise<WebhookResponse[]> {
  const registered = await webhooks.list(clientId)
  const stored = await attempts.list(registered.map(({ id }) => ({ clientId, webhookId: id })))
  return registered.map((webhook, index) => {
    const of = selectAttempts(webhook, stored[index]?.attempts)
    const { behind, disabledAt } = webhook
    const next = [behind?.probeAt, computeNextDueAt(of, now())].filter((at) => at !== undefined)
    return {
      ...describeWebhook(webhook),
      status: disabledAt ? 'disabled' : 'active',
      disabledAt: disabledAt ?? null,
      disabledReason: webhook.disabledReason ?? null,
      failingSince: momentOf(computeFailingSince(of)),
      delivery: {
        lastFailure: of.lastFailure
          ? { ...of.lastFailure, at: new Date(of.lastFailure.at), status: of.lastFailure.status ?? null }
          : null,
        behindFrom: behind?.from ?? null,
        waiting: Object.keys(of.waiting).length,
        nextAttemptAt: disabledAt || next.length === 0 ? null : new Date(Math.min(...next)),
        givenUp: listGivenUpEvents(of, now()).map(({ sequence }) => sequence),
        givenUpBefore: of.givenUpBefore,
      },
    }
  })
}

type Statuses = {
  readonly webhooks: Pick<WebhooksStore, 'list'>
  readonly attempts: Pick<AttemptsStore, 'list'>
  readonly now: () => number
}

function momentOf(millis: number | undefined): Date | null {
  return millis === undefined ? null : new Date(millis)
}

/** Returns the fields that every response about a webhook has. */
export function describeWebhook({ id, url, types, finality, createdAt }: Webhook) {
  return { id, url, types, finality, createdAt }
}
