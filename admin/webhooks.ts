import type { RandomBytes } from '../lib/clients/api-key.ts'
import type { EventLogStore } from '../lib/webhooks/log-store.ts'
import type { WebhookReach } from '../lib/webhooks/reach.ts'
import { registerWebhook } from '../lib/webhooks/register.ts'
import type { WakeDeliveries } from '../lib/webhooks/relay.ts'
import { listStatuses, type NewWebhook } from '../lib/webhooks/responses.ts'
import type { WebhooksStore } from '../lib/webhooks/store.ts'

type Dependencies = {
  readonly webhooks: WebhooksStore
  readonly eventLog: EventLogStore
  readonly readWebhookKey: () => Promise<string>
  readonly webhookReach: WebhookReach
  readonly wakeDeliveries: WakeDeliveries
  readonly randomBytes: RandomBytes
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** The webhooks of clients, as operators register, see and remove them: each method does what the endpoint does. */
export function webhooksAdmin({ readWebhookKey, ...dependencies }: Dependencies) {
  const { webhooks } = dependencies
  return {
    add: async (clientId: string, webhook: NewWebhook) =>
      registerWebhook({ ...dependencies, webhookKey: await readWebhookKey() }, clientId, webhook),
    list: (clientId: string) => listStatuses(webhooks, clientId),
    remove: (clientId: string, id: string) => webhooks.remove(clientId, id),
  }
}
export type WebhooksAdmin = ReturnType<typeof webhooksAdmin>
