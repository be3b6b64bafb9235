import { endpoint } from '../../../lib/frame/endpoint.ts'
import { attempts, now, webhooks } from '../../../lib/services.ts'
import { listStatuses } from '../../../lib/webhooks/responses.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { webhooks, attempts, now }, (services) => async ({ client }) => ({
  webhooks: await listStatuses(services, client.clientId),
}))
