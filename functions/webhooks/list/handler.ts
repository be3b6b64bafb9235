import { endpoint } from '../../../lib/frame/endpoint.ts'
import { webhooks } from '../../../lib/services.ts'
import { listStatuses } from '../../../lib/webhooks/responses.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { webhooks }, ({ webhooks }) => async ({ client: { clientId } }) => ({
  webhooks: await listStatuses(webhooks, clientId),
}))
