import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import type { Services } from '../../../lib/services.ts'
import { listSecrets } from '../../../lib/webhooks/secret.ts'
import { signatureHeaders } from '../../../lib/webhooks/signature.ts'
import type { contract } from './contract.ts'

type Needs = Services<
  'webhooks' | 'deliveries' | 'webhookKeys' | 'sendDelivery' | 'wakeDeliveries' | 'randomUUID' | 'now'
>

/** One test of a client at a time, and a second after it the next: each can hold a function for five seconds, and asks a stranger. */
const LONGEST_TEST_MS = 6_000
const PAUSE_MS = 1_000

/**
 * Sends a webhook an event that is in no log. One that takes it rests no longer, and one that was switched off is switched on, and
 * sent all that it did not take. Throws `webhook_not_found`,
 * `too_many_requests` while the client tries another, and when the table or the queue cannot be reached.
 */
export function sendTest({ webhooks, deliveries, webhookKeys, sendDelivery, wakeDeliveries, randomUUID, now }: Needs) {
  return async ({ client: { clientId }, path }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const webhook = (await webhooks.list(clientId)).find(({ id }) => id === path.id)
    if (!webhook) throw new AppError('webhook_not_found')
    const sentAt = now()
    const until = sentAt + LONGEST_TEST_MS
    if (!(await webhooks.beginTest(clientId, { now: sentAt, until }))) {
      throw new AppError('too_many_requests', { headers: { 'retry-after': String(LONGEST_TEST_MS / 1000) } })
    }
    const id = `evt_${randomUUID().replaceAll('-', '')}`
    const data = { webhookId: webhook.id }
    const body = JSON.stringify({ id, type: 'webhook.test', timestamp: new Date(sentAt).toISOString(), data })
    const secrets = listSecrets(webhookKeys, clientId, webhook, sentAt)
    const sent = await sendDelivery(webhook.url, {
      headers: signatureHeaders({ id, now: sentAt, body }, secrets),
      body,
    })
    await webhooks.endTest(clientId, { begun: until, until: now() + PAUSE_MS })
    if (!sent.delivered) return { delivered: false, status: sent.status ?? null, reason: sent.reason }
    const key = { clientId, webhookId: webhook.id }
    // Asked before: killed between, it is switched off still, and the next test does the same.
    await deliveries.ask(key, webhook.disabledAt ? 'all' : 'rest', now())
    if (webhook.disabledAt) await webhooks.enable(clientId, webhook)
    await wakeDeliveries([key])
    return { delivered: true, status: sent.status, reason: null }
  }
}
