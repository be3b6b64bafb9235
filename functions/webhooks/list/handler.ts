import { endpoint } from '../../../lib/frame/endpoint.ts'
import { attempts, now, webhooks } from '../../../lib/services.ts'
import { listWebhookStatuses } from '../../../lib/webhooks/responses.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { webhooks, attempts, now }, (services) => async ({ client }) => ({
  webhooks: await listWebhookStatuses(services, client.clientId),
}))
