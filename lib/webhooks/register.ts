import type { RandomBytes } from '../clients/api-key.ts'
import { AppError } from '../core/errors.ts'
import type { KeysByAge } from '../core/keys-by-age.ts'
import { buildWebhookId } from './ids.ts'
import type { EventLogStore } from './log-store.ts'
import { buildEventMessages, type Enqueue } from './queue.ts'
import { findReachIssue, type WebhookReach } from './reach.ts'
import type { NewWebhook } from './responses.ts'
import { createSecretVersions, listWebhookSecrets } from './secret.ts'
import type { WebhooksStore } from './store.ts'
import { isSubscribedTo, type Webhook } from './webhook.ts'

/**
 * Maximum number of events read from the log once a webhook is stored. A registration first reads the end of the log,
 * and then stores the webhook. Events logged between these two requests may not be queued for the webhook, so they are
 * read afterwards. Far fewer events than this maximum can be logged in that time.
 */
const MAX_MISSED = 1_000

/**
 * Registers a webhook for the events logged from now on, and returns it with its secret. Throws
 * `missing_or_invalid_url` if nothing may be sent to the URL, `webhook_already_registered` and `too_many_webhooks`.
 */
export async function registerWebhook(
  {
    webhooks,
    eventLog,
    webhookKeys,
    webhookReach,
    enqueue,
    randomBytes,
    randomUUID,
    now,
  }: {
    readonly webhooks: Pick<WebhooksStore, 'add' | 'list'>
    readonly eventLog: Pick<EventLogStore, 'getHeads' | 'list'>
    readonly webhookKeys: KeysByAge
    readonly webhookReach: WebhookReach
    readonly enqueue: Enqueue
    readonly randomUUID: () => string
    readonly randomBytes: RandomBytes
    /** Returns the current time in epoch milliseconds. */
    readonly now: () => number
  },
  clientId: string,
  { url, types, finality }: NewWebhook,
): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
  const issue = findReachIssue(new URL(url), webhookReach)
  if (issue) throw new AppError('missing_or_invalid_url', { details: [{ field: 'url', issue }] })
  const head = (await eventLog.getHeads([clientId])).get(clientId)
  const webhook: Webhook = {
    id: buildWebhookId(clientId, url),
    version: randomUUID(),
    url,
    types: types ? [...new Set(types)] : null,
    finality,
    secret: createSecretVersions(randomBytes),
    createdAt: new Date(now()),
    after: (head?.next ?? 1) - 1,
  }
  if (!(await webhooks.add(clientId, webhook))) {
    const registered = (await webhooks.list(clientId)).find(({ id }) => id === webhook.id)
    // Equal secrets mean that the existing webhook is this one: the table's response was lost, and the repeated write found the webhook.
    if (registered?.secret.version !== webhook.secret.version) {
      throw new AppError(registered ? 'webhook_already_registered' : 'too_many_webhooks')
    }
  }
  // Events logged since the read of `head` are queued here. The job that logged them may have read the webhooks before this one was
  // added.
  const missed = await eventLog.list(clientId, { after: webhook.after, limit: MAX_MISSED, now: now() })
  const key = { clientId, webhookId: webhook.id }
  await enqueue(
    buildEventMessages(
      key,
      missed.filter(({ event }) => isSubscribedTo(webhook, event)),
    ),
  )
  return { webhook, secret: listWebhookSecrets(webhookKeys, clientId, webhook, now())[0] }
}
