import { findVisibleVault } from '../../../lib/clients/key-limits.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getCampaigns, getReader, getTokenValues, getYield, now, pins, states } from '../../../lib/services.ts'
import { createLiveVaultReader } from '../../../lib/vaults/live.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { getReader, states, pins, getYield, getTokenValues, getCampaigns, now },
  (services) => {
    const read = createLiveVaultReader(services)
    return async ({ client, limits, path, query }) => {
      const vault = findVisibleVault({ client, limits }, path.vaultAddress, query.chainId)
      const { vaults, evidence } = await read([vault])
      const [live] = vaults
      if (!live) throw new AppError('internal')
      return { ...live, evidence }
    }
  },
)
