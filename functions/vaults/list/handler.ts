import { listVisibleVaults } from '../../../lib/clients/key-limits.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getReader, getYield, now, pins, type Services, states } from '../../../lib/services.ts'
import { liveVaults } from '../../../lib/vaults/live.ts'
import { contract } from './contract.ts'

function listVaults(services: Services<'getReader' | 'states' | 'pins' | 'getYield' | 'now'>) {
  const read = liveVaults(services)
  return async ({ client, limits }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const vaults = listVisibleVaults({ client, limits })
    if (vaults.length === 0) throw new AppError('no_vaults_configured')
    const { vaults: data, evidence } = await read(vaults)
    return { success: true, data, evidence }
  }
}

export const handler = endpoint(contract, { getReader, states, pins, getYield, now }, listVaults)
