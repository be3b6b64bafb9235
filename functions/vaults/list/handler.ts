import { listVisibleVaults } from '../../../lib/clients/key-limits.ts'
import { cutPage, decodeCursor } from '../../../lib/core/cursor.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { vaultType } from '../../../lib/protocols/vault-on-chain.ts'
import { getCampaigns, getReader, getTokenValues, getYield, now, pins, states } from '../../../lib/services.ts'
import { createLiveVaultReader } from '../../../lib/vaults/live.ts'
import { type Vault, vaultPartition } from '../../../lib/vaults/vault.ts'
import { contract } from './contract.ts'
import { needsLiveFigures, rankVaults } from './rank.ts'
import { createRankedPages } from './ranked-pages.ts'

export const handler = endpoint(
  contract,
  { getReader, states, pins, getYield, getTokenValues, getCampaigns, now },
  (services) => {
    const read = createLiveVaultReader(services)
    return async ({ client, limits, query }) => {
      const { limit, cursor, chainId, asset, type, sort, order, minTotalAssetsUsd } = query
      const visible = listVisibleVaults({ client, limits })
      if (visible.length === 0) throw new AppError('no_vaults_configured')

      const matching = visible.filter(
        (vault) =>
          (chainId ?? vault.chainId) === vault.chainId &&
          (asset ?? vault.asset) === vault.asset &&
          (type ?? vaultType(vault)) === vaultType(vault),
      )
      const filters = ['vaults', client.clientId, chainId, asset, type]

      if (sort === undefined && minTotalAssetsUsd === undefined) {
        const list = JSON.stringify(filters)
        const after = cursor === undefined ? undefined : decodeCursor(cursor, list)
        const { onPage, page } = cutPage(matching.map(placed), { list, order: 'ascending', after, limit })
        const { vaults: data, evidence } = await read(onPage.map(({ vault }) => vault))
        return { success: true as const, data, ...page, evidence }
      }

      const ranking = { sort, order, minTotalAssetsUsd }
      const list = JSON.stringify([...filters, ranking])
      const { rest, cut } = createRankedPages(matching, { list, cursor, limit })
      const figures = needsLiveFigures(ranking) ? await read(rest) : undefined
      const entries = rest.map((vault, index) => ({ vault, live: figures?.vaults[index] }))
      const { onPage, page } = cut(rankVaults(entries, ranking))
      const { vaults: data, evidence } = figures
        ? { vaults: onPage.flatMap(({ live }) => live ?? []), evidence: figures.evidence }
        : await read(onPage.map(({ vault }) => vault))
      return { success: true as const, data, ...page, evidence }
    }
  },
)

/** Returns a vault with its sort key. The list of vaults is ordered by that key, as in the clients table. */
function placed(vault: Vault) {
  return { vault, sortKey: vaultPartition(vault) }
}
