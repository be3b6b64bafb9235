import { findVisibleVault } from '../../../lib/clients/key-limits.ts'
import { DAY_SECONDS, toDate, toSeconds } from '../../../lib/core/time.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, prices } from '../../../lib/services.ts'
import { yieldsOfHistory } from '../../../lib/vaults/yields.ts'
import { contract } from './contract.ts'

const DAYS = { '30d': 30n, '90d': 90n, '1y': 365n } as const
/**
 * Seconds before the requested range from which prices are also read. A yield needs a price seven days earlier, and
 * some days have none.
 */
const EARLIER_SECONDS = 30n * DAY_SECONDS

export const handler = endpoint(
  contract,
  { prices, now },
  ({ prices, now }) =>
    async ({ client, limits, path, query }) => {
      const { range, chainId } = query
      const vault = findVisibleVault({ client, limits }, path.vaultAddress, chainId)
      const since = range === 'all' ? 0n : toSeconds(new Date(now())) - DAYS[range] * DAY_SECONDS
      // The yields at the start of the range need prices from before the range.
      const from = range === 'all' ? 0n : since - EARLIER_SECONDS
      const [days, hours] = await Promise.all([
        prices.list(vault, 'day', from),
        range === '30d' ? prices.list(vault, 'hour', since) : undefined,
      ])
      const points = (hours ?? days).filter(({ timestamp }) => timestamp >= since)
      const yields = yieldsOfHistory(points, days)
      return {
        vaultAddress: vault.address,
        chainId: vault.chainId,
        range,
        history: points.map(({ timestamp, price, totalAssets }, index) => ({
          at: toDate(timestamp),
          sharePrice: price,
          totalAssets: totalAssets ?? null,
          annualYield: yields[index] ?? null,
        })),
      }
    },
)
