import { AppError } from '../../../lib/core/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, randomBytes, type Services, webhookKeys, webhooks } from '../../../lib/services.ts'
import { listWebhookSecrets, rotateSecret } from '../../../lib/webhooks/secret.ts'
import { contract } from './contract.ts'

/** Creates a new secret for a webhook. Throws `webhook_not_found`, or `service_unavailable` if other requests keep changing the webhook. */
function rotate({
  webhooks,
  webhookKeys,
  randomBytes,
  now,
}: Services<'webhooks' | 'webhookKeys' | 'randomBytes' | 'now'>) {
  return async ({ client: { clientId }, path: { id } }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const at = now()
    const webhook = await webhooks.change({ clientId, webhookId: id }, (current) => ({
      ...current,
      secret: rotateSecret(current.secret, { randomBytes, now: at }),
    }))
    if (!webhook?.secret.before) throw new AppError('webhook_not_found')
    const [newest] = listWebhookSecrets(webhookKeys, clientId, webhook, at)
    return { id, secret: newest, previousUntil: webhook.secret.before.until }
  }
}

export const handler = endpoint(contract, { webhooks, webhookKeys, randomBytes, now }, rotate)
