import type { RandomBytes } from '../clients/api-key.ts'
import { AppError } from '../errors.ts'
import type { KeysByAge } from '../keys-by-age.ts'
import { buildWebhookId } from './ids.ts'
import type { EventLogStore } from './log-store.ts'
import { type WebhookReach, whyUnreachable } from './reach.ts'
import type { NewWebhook } from './responses.ts'
import { createSecretVersions, listSecrets } from './secret.ts'
import type { WebhooksStore } from './store.ts'
import type { WakeDeliveries } from './wake.ts'
import type { Webhook } from './webhook.ts'

type Dependencies = {
  readonly webhooks: Pick<WebhooksStore, 'add' | 'list'>
  readonly eventLog: Pick<EventLogStore, 'getHead'>
  readonly webhookKeys: KeysByAge
  readonly webhookReach: WebhookReach
  readonly wakeDeliveries: WakeDeliveries
  readonly randomBytes: RandomBytes
  /** Epoch milliseconds. */
  readonly now: () => number
}

/**
 * Registers a webhook, which is told what comes after in its client's log, and gives it with its secret. Throws
 * `missing_or_invalid_url` where nothing may be sent to the URL, `webhook_already_registered` and `too_many_webhooks`.
 */
export async function registerWebhook(
  { webhooks, eventLog, webhookKeys, webhookReach, wakeDeliveries, randomBytes, now }: Dependencies,
  clientId: string,
  { url, types, finality }: NewWebhook,
): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
  const issue = whyUnreachable(new URL(url), webhookReach)
  if (issue) throw new AppError('missing_or_invalid_url', { details: [{ field: 'url', issue }] })
  const webhook: Webhook = {
    id: buildWebhookId(clientId, url),
    url,
    types: types ? [...new Set(types)] : null,
    finality,
    secret: createSecretVersions(randomBytes),
    createdAt: new Date(now()),
    after: (await eventLog.getHead(clientId)) - 1,
  }
  if (!(await webhooks.add(clientId, webhook))) {
    const registered = (await webhooks.list(clientId)).find(({ id }) => id === webhook.id)
    // It may be this one: of a lost answer the table's second one tells no more once another change came between.
    if (registered?.secret.version !== webhook.secret.version) {
      throw new AppError(registered ? 'webhook_already_registered' : 'too_many_webhooks')
    }
  }
  // A relay that is at work may have looked for webhooks just before.
  await wakeDeliveries([{ clientId, webhookId: webhook.id }])
  return { webhook, secret: listSecrets(webhookKeys, clientId, webhook, now())[0] }
}
