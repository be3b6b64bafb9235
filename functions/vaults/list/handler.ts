import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { readerOf, type Services, states, yieldOf } from '../../../lib/services.ts'
import { liveVaults } from '../../../lib/vaults/live.ts'
import { contract } from './contract.ts'

function listVaults(services: Services<'readerOf' | 'states' | 'yieldOf'>) {
  const read = liveVaults(services)
  return async ({ client: { vaults } }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    if (vaults.length === 0) throw new AppError('no_vaults_configured')
    return { success: true, data: await read(vaults) }
  }
}

export const handler = endpoint(contract, { readerOf, states, yieldOf }, listVaults)
