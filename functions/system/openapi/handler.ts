import { endpoint } from '../../../lib/frame/endpoint.ts'
import { buildOpenApi } from '../../../lib/frame/openapi.ts'
import { endpoints } from '../../contracts.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, (env) => {
  const document = buildOpenApi(Object.values(endpoints), env.SERVICE_VERSION)
  return async () => document
})
