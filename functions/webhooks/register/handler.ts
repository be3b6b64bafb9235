import { endpoint } from '../../../lib/frame/endpoint.ts'
import {
  enqueueDeliveries,
  eventLog,
  now,
  randomBytes,
  randomUUID,
  webhookKeys,
  webhookReach,
  webhooks,
} from '../../../lib/services.ts'
import { registerWebhook } from '../../../lib/webhooks/register.ts'
import { describeWebhook } from '../../../lib/webhooks/responses.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { webhooks, eventLog, webhookKeys, webhookReach, enqueue: enqueueDeliveries, randomBytes, randomUUID, now },
  (services) =>
    async ({ client, body }) => {
      const { webhook, secret } = await registerWebhook(services, client.clientId, body)
      return { ...describeWebhook(webhook), secret }
    },
)
