import { apiKey } from '../../../lib/frame/api-key.ts'
import { readConfig } from '../../../lib/frame/config.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { cacheOf, sourcesOf } from '../../../lib/frame/markets.ts'
import { coinById } from '../../../lib/markets/coins.ts'
import { contract } from './contract.ts'

type Dependencies = Parameters<typeof coinById>[0]

const coin =
  (dependencies: Dependencies) =>
  async ({ path, query: { currency } }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { value, ...age } = await coinById(dependencies, path.id, currency)
    return {
      value: {
        id: value.id,
        symbol: value.symbol,
        name: value.name,
        image: value.image,
        current_price: value.price,
        market_cap: value.marketCap,
        market_cap_rank: value.rank,
        total_volume: value.volume,
        high_24h: value.high24h,
        low_24h: value.low24h,
        price_change_24h: value.priceChange24h,
        price_change_percentage_24h: value.change24h,
        circulating_supply: value.circulatingSupply,
        total_supply: value.totalSupply,
        max_supply: value.maxSupply,
        ath: value.allTimeHigh,
        atl: value.allTimeLow,
        last_updated: new Date(value.updatedAt),
        currency,
        platforms: value.platforms,
      },
      ...age,
    }
  }

export const handler = endpoint(
  contract,
  async (env) => coin({ ...sourcesOf(await readConfig(env)), cache: cacheOf(env), now: Date.now }),
  apiKey,
)
