import { openEndpoint } from '../../../lib/frame/endpoint.ts'
import { type Services, version } from '../../../lib/services.ts'
import { contract } from './contract.ts'

const tellHealth =
  ({ version }: Services<'version'>) =>
  async () => ({ status: 'ok' as const, version })

export const handler = openEndpoint(contract, { version }, tellHealth)
