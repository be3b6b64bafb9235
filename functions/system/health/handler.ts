import { endpoint } from '../../../lib/frame/endpoint.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, (env) => async () => ({
  status: 'ok' as const,
  version: env.SERVICE_VERSION,
}))
