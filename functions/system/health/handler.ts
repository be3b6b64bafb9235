import { openEndpoint } from '../../../lib/frame/endpoint.ts'
import { version } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = openEndpoint(contract, { version }, ({ version }) => async () => ({
  status: 'ok' as const,
  version,
}))
