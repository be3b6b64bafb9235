import { AppError } from '../../../lib/core/errors.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, randomBytes, webhookKeys, webhooks } from '../../../lib/services.ts'
import { listWebhookSecrets, rotateSecret } from '../../../lib/webhooks/secret.ts'
import { contract } from './contract.ts'

/** Creates a new secret for a webhook. Throws `webhook_not_found`, or `service_unavailable` if other requests keep changing the webhook. */
export const handler = endpoint(
  contract,
  { webhooks, webhookKeys, randomBytes, now },
  ({ webhooks, webhookKeys, randomBytes, now }) =>
    async ({ client: { clientId }, path: { id } }) => {
      const at = now()
      const webhook = await webhooks.change({ clientId, webhookId: id }, (current) => ({
        ...current,
        secret: rotateSecret(current.secret, { randomBytes, now: at }),
      }))
      if (!webhook?.secret.before) throw new AppError('webhook_not_found')
      const [newest] = listWebhookSecrets(webhookKeys, clientId, webhook, at)
      return { id, secret: newest, previousUntil: webhook.secret.before.until }
    },
)
