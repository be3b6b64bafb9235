import { AppError } from '../../../lib/core/errors.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import {
  attempts,
  enqueueDeliveries,
  now,
  randomUUID,
  sendDelivery,
  webhookKeys,
  webhooks,
} from '../../../lib/services.ts'
import { resumeWebhook } from '../../../lib/webhooks/resume.ts'
import { listWebhookSecrets } from '../../../lib/webhooks/secret.ts'
import { buildSignatureHeaders } from '../../../lib/webhooks/signature.ts'
import { contract } from './contract.ts'

/**
 * Maximum duration of a webhook test in milliseconds. A client can run only one test at a time. Each test can
 * occupy a Lambda for five seconds and calls a server of a third party.
 */
const MAX_TEST_MS = 6_000
/** Milliseconds after a test in which the client cannot start another one. */
const PAUSE_MS = 1_000

/**
 * Sends a test event to a webhook; the event is not in the event log. After a success, a webhook with undelivered
 * events gets these immediately. A disabled webhook is enabled again and gets all events that it missed. Throws
 * `webhook_not_found`. Throws `too_many_requests` during and shortly after another test of the same client. Throws if
 * the table or the queue cannot be reached.
 */
export const handler = endpoint(
  contract,
  { webhooks, attempts, webhookKeys, sendDelivery, enqueue: enqueueDeliveries, randomUUID, now },
  (services) => {
    const { webhooks, webhookKeys, sendDelivery, randomUUID, now } = services
    return async ({ client: { clientId }, path }) => {
      const webhook = (await webhooks.list(clientId)).find(({ id }) => id === path.id)
      if (!webhook) throw new AppError('webhook_not_found')
      const sentAt = now()
      const until = sentAt + MAX_TEST_MS
      if (!(await webhooks.beginTest(clientId, { now: sentAt, until }))) {
        throw new AppError('too_many_requests', { headers: { 'retry-after': String(MAX_TEST_MS / 1000) } })
      }
      const id = `evt_${randomUUID().replaceAll('-', '')}`
      const data = { webhookId: webhook.id }
      const body = JSON.stringify({ id, type: 'webhook.test', timestamp: new Date(sentAt).toISOString(), data })
      const secrets = listWebhookSecrets(webhookKeys, clientId, webhook, sentAt)
      const sent = await sendDelivery(webhook.url, {
        headers: buildSignatureHeaders({ id, now: sentAt, body }, secrets),
        body,
      })
      await webhooks.endTest(clientId, { begun: until, until: now() + PAUSE_MS })
      if (!sent.delivered) return { delivered: false, status: sent.status ?? null, reason: sent.reason }
      const isAnew = webhook.disabledAt !== undefined
      if (isAnew || webhook.behind) await resumeWebhook(services, { clientId, webhookId: webhook.id }, { isAnew })
      return { delivered: true, status: sent.status, reason: null }
    }
  },
)
