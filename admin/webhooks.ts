import type { RandomBytes } from '../lib/clients/api-key.ts'
import type { KeysByAge } from '../lib/keys-by-age.ts'
import { type DeliveryState, isDown, listGivenUp, stateOf } from '../lib/webhooks/delivery-state.ts'
import type { DeliveryStore } from '../lib/webhooks/delivery-store.ts'
import type { EventType } from '../lib/webhooks/event.ts'
import type { EventLogStore } from '../lib/webhooks/log-store.ts'
import type { WebhookReach } from '../lib/webhooks/reach.ts'
import { registerWebhook } from '../lib/webhooks/register.ts'
import { listStatuses, type NewWebhook } from '../lib/webhooks/responses.ts'
import type { WebhooksStore } from '../lib/webhooks/store.ts'
import type { WakeDeliveries } from '../lib/webhooks/wake.ts'
import type { WebhookKey } from '../lib/webhooks/webhook.ts'

type Dependencies = {
  readonly webhooks: WebhooksStore
  readonly eventLog: EventLogStore
  readonly deliveries: DeliveryStore
  readonly readWebhookKeys: () => Promise<KeysByAge>
  readonly webhookReach: WebhookReach
  readonly wakeDeliveries: WakeDeliveries
  readonly randomBytes: RandomBytes
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** An event that a webhook did not take ten times; what its client's log has no more is of no type. */
export type GivenUpEvent = WebhookKey & {
  readonly sequence: number
  readonly type: EventType | null
  readonly at: Date
}

/** Of webhooks that did not take something how many are sent it now, and how many are switched off. */
export type Resumed = { readonly resumed: number; readonly disabled: number }

/** The webhooks of clients, as operators register, see and remove them: the first methods do what the endpoints do. */
export function webhooksAdmin({ readWebhookKeys, ...dependencies }: Dependencies) {
  const { webhooks, eventLog, deliveries, wakeDeliveries, now } = dependencies

  /** A client's webhooks, each with how far it was told. */
  async function listStates(clientId: string) {
    const registered = await webhooks.list(clientId)
    const states = await deliveries.list(
      clientId,
      registered.map(({ id }) => id),
    )
    return registered.map((webhook) => ({
      webhook,
      key: { clientId, webhookId: webhook.id },
      state: stateOf(webhook, states.get(webhook.id)),
    }))
  }

  /** Whether there is anything that a webhook did not take, or a pause until it is sent more. */
  const isBehind = (state: DeliveryState) =>
    isDown(state) || Object.keys(state.retries).length > 0 || listGivenUp(state, now()).length > 0

  return {
    add: async (clientId: string, webhook: NewWebhook) =>
      registerWebhook({ ...dependencies, webhookKeys: await readWebhookKeys() }, clientId, webhook),
    list: (clientId: string) => listStatuses(dependencies, clientId),
    remove: (clientId: string, id: string) => webhooks.remove(clientId, id),

    /** The events that a client's webhooks gave up, a hundred of each. */
    async listGivenUp(clientId: string): Promise<GivenUpEvent[]> {
      const giving = (await listStates(clientId)).map(({ key, state }) => ({ key, events: listGivenUp(state, now()) }))
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
     * Has a client's webhooks resumed that did not take something: how many these are, and how many are switched off, which
     * are left alone.
     */
    async resume(clientId: string): Promise<Resumed> {
      const behind = (await listStates(clientId)).filter(({ state }) => isBehind(state))
      const active = behind.filter(({ webhook }) => !webhook.disabledAt).map(({ key }) => key)
      for (const key of active) await deliveries.ask(key, 'all', now())
      await wakeDeliveries(active)
      return { resumed: active.length, disabled: behind.length - active.length }
    },

    /** Forgets what a webhook gave up; false while it is being sent to. */
    dropGivenUp: (key: WebhookKey) => deliveries.dropGivenUp(key, now()),
  }
}
export type WebhooksAdmin = ReturnType<typeof webhooksAdmin>
