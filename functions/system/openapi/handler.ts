import { openEndpoint } from '../../../lib/frame/endpoint.ts'
import { buildOpenApi } from '../../../lib/frame/openapi.ts'
import { type Services, version } from '../../../lib/services.ts'
import { endpoints } from '../../contracts.ts'
import { contract } from './contract.ts'
import examples from './examples.json' with { type: 'json' }

function describeApi({ version }: Services<'version'>) {
  const document = buildOpenApi(Object.values(endpoints), version, examples)
  return async () => document
}

export const handler = openEndpoint(contract, { version }, describeApi)
