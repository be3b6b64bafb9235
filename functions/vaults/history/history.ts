import { findVisibleVault } from '../../../lib/clients/key-limits.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import type { Services } from '../../../lib/services.ts'
import { DAY_SECONDS, toDate, toSeconds } from '../../../lib/time.ts'
import { annualGrowth, YIELD_DAYS } from '../../../lib/vaults/apy.ts'
import type { contract } from './contract.ts'

const DAYS = { '30d': 30n, '90d': 90n, '1y': 365n } as const
const YIELD_SECONDS = YIELD_DAYS['7d'] * DAY_SECONDS

export function getHistory({ prices, now }: Services<'prices' | 'now'>) {
  return async ({ client, limits, path, query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { range, chainId } = query
    const vault = findVisibleVault({ client, limits }, path.vaultAddress, chainId)
    const since = range === 'all' ? 0n : toSeconds(new Date(now())) - DAYS[range] * DAY_SECONDS
    // The first points' yields compare with prices of seven days before.
    const from = range === 'all' ? 0n : since - YIELD_SECONDS
    const [before, listed] = await Promise.all([
      from > 0n ? prices.getLastBefore(vault, from) : undefined,
      prices.list(vault, range === '30d' ? 'hour' : 'day', from),
    ])
    const inOrder = [...(before ? [before] : []), ...listed]
    let earlier = 0
    const history = inOrder.map((point) => {
      const isOldEnough = (index: number) => (inOrder[index] ?? point).timestamp <= point.timestamp - YIELD_SECONDS
      while (isOldEnough(earlier + 1)) earlier += 1
      return { point, annualYield: annualGrowth(inOrder[earlier], point, YIELD_DAYS['7d']) }
    })
    return {
      vaultAddress: vault.address,
      chainId: vault.chainId,
      range,
      history: history
        .filter(({ point }) => point.timestamp >= since)
        .map(({ point, annualYield }) => ({
          at: toDate(point.timestamp),
          sharePrice: point.price,
          totalAssets: point.totalAssets ?? null,
          annualYield,
        })),
    }
  }
}
