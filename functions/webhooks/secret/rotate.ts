import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import type { Services } from '../../../lib/services.ts'
import { listSecrets, rotateSecret } from '../../../lib/webhooks/secret.ts'
import type { contract } from './contract.ts'

/** How often it is tried again, because others rotate the same secret. */
const TRIES = 5

/** Gives a webhook a new secret. Throws `webhook_not_found`, and `service_unavailable` while others do the same. */
export function rotate({
  webhooks,
  webhookKeys,
  randomBytes,
  now,
}: Services<'webhooks' | 'webhookKeys' | 'randomBytes' | 'now'>) {
  return async ({ client: { clientId }, path }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const webhook = (await webhooks.list(clientId)).find(({ id }) => id === path.id)
      if (!webhook) throw new AppError('webhook_not_found')
      const at = now()
      const secret = rotateSecret(webhook.secret, { randomBytes, now: at })
      if (await webhooks.replaceSecret(clientId, webhook, secret)) {
        const [newest] = listSecrets(webhookKeys, clientId, { id: webhook.id, secret }, at)
        return { id: webhook.id, secret: newest, previousUntil: secret.before.until }
      }
    }
    throw new AppError('service_unavailable')
  }
}
