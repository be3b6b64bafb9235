import type { RandomBytes } from '../lib/clients/api-key.ts'
import type { KeysByAge } from '../lib/core/keys-by-age.ts'
import { listGivenUpEvents, listUndeliveredEvents, selectAttempts } from '../lib/webhooks/attempts.ts'
import type { AttemptsStore } from '../lib/webhooks/attempts-store.ts'
import type { EventType } from '../lib/webhooks/event.ts'
import type { EventLogStore } from '../lib/webhooks/log-store.ts'
import type { Enqueue } from '../lib/webhooks/queue.ts'
import type { WebhookReach } from '../lib/webhooks/reach.ts'
import { registerWebhook } from '../lib/webhooks/register.ts'
import { listWebhookStatuses, type NewWebhook } from '../lib/webhooks/responses.ts'
import { resumeWebhook } from '../lib/webhooks/resume.ts'
import type { WebhooksStore } from '../lib/webhooks/store.ts'
import type { WebhookKey } from '../lib/webhooks/webhook.ts'

type WebhookServices = {
  readonly webhooks: WebhooksStore
  readonly eventLog: EventLogStore
  readonly attempts: AttemptsStore
  readonly readWebhookKeys: () => Promise<KeysByAge>
  readonly webhookReach: WebhookReach
  readonly enqueue: Enqueue
  readonly randomBytes: RandomBytes
  readonly randomUUID: () => string
  /** Returns the present time in epoch milliseconds. */
  readonly now: () => number
}

/** Event that a webhook did not accept in ten attempts. `type` is null if the client's log no longer contains the event. */
export type GivenUpEvent = WebhookKey & {
  readonly sequence: number
  readonly type: EventType | null
  readonly at: Date
}

/** Numbers of webhooks with undelivered events: active webhooks, to which the service sends them again, and disabled webhooks. */
export type ResumeCounts = { readonly resumed: number; readonly disabled: number }

/** Returns an operator's operations on the webhooks of clients. `add`, `list` and `remove` do the same as the API's endpoints. */
export function webhooksAdmin({ readWebhookKeys, ...dependencies }: WebhookServices) {
  const { webhooks, eventLog, attempts, now } = dependencies

  async function listAttempts(clientId: string) {
    const registered = await webhooks.list(clientId)
    const keys = registered.map(({ id }) => ({ clientId, webhookId: id }))
    const stored = await attempts.list(keys)
    return registered.map((webhook, index) => ({
      webhook,
      key: { clientId, webhookId: webhook.id },
      of: selectAttempts(webhook, stored[index]?.attempts),
    }))
  }

  return {
    add: async (clientId: string, webhook: NewWebhook) =>
      registerWebhook({ ...dependencies, webhookKeys: await readWebhookKeys() }, clientId, webhook),
    list: (clientId: string) => listWebhookStatuses(dependencies, clientId),
    remove: (clientId: string, id: string) => webhooks.remove(clientId, id),

    /** Lists the given-up events of a client's webhooks, at most a hundred per webhook. */
    async listGivenUp(clientId: string): Promise<GivenUpEvent[]> {
      const giving = (await listAttempts(clientId)).map(({ key, of }) => ({
        key,
        events: listGivenUpEvents(of, now()),
      }))
      const logged = await eventLog.getEvents(
        clientId,
        giving.flatMap(({ events }) => events),
      )
      const types = new Map(logged.map(({ sequence, type }) => [sequence, type]))
      return giving.flatMap(({ key, events }) =>
        events.map(({ sequence, at }) => ({
          ...{ ...key, sequence, type: types.get(sequence) ?? null, at: new Date(at) },
        })),
      )
    },

    /**
     * Sends the undelivered events of a client's webhooks now. Returns the number of active webhooks with such events, and the number of
     * disabled ones, which get none.
     */
    async resume(clientId: string): Promise<ResumeCounts> {
      const behind = (await listAttempts(clientId)).filter(
        ({ webhook, of }) => webhook.behind || listUndeliveredEvents(of, now()).length > 0,
      )
      const active = behind.filter(({ webhook }) => !webhook.disabledAt)
      for (const { key } of active) await resumeWebhook(dependencies, key, { isAnew: true })
      return { resumed: active.length, disabled: behind.length - active.length }
    },

    /** Deletes the given-up events of a webhook; returns false if another process wrote the webhook's attempts meanwhile. */
    async dropGivenUp(key: WebhookKey): Promise<boolean> {
      const [stored] = await attempts.list([key])
      return !stored || (await attempts.put(key, stored, { ...stored.attempts, givenUp: [], givenUpBefore: 0 }, now()))
    },
  }
}
export type WebhooksAdmin = ReturnType<typeof webhooksAdmin>
