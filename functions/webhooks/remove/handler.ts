import { AppError } from '../../../lib/core/errors.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { webhooks } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { webhooks }, ({ webhooks }) => async ({ client: { clientId }, path }) => {
  if (!(await webhooks.remove(clientId, path.id))) throw new AppError('webhook_not_found')
  return undefined
})
