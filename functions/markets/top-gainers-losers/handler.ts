import type { SharedCache } from '../../../lib/cache/cache.ts'
import { apiKey } from '../../../lib/frame/api-key.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { cacheOf } from '../../../lib/frame/markets.ts'
import type { Currency } from '../../../lib/markets/currency.ts'
import { listMovers, type Mover } from '../../../lib/markets/movers.ts'
import { contract } from './contract.ts'

type Dependencies = { cache: SharedCache; now: () => number }

const topGainersLosers =
  (dependencies: Dependencies) =>
  async ({ query: { currency } }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { value, ...age } = await listMovers(dependencies, currency)
    const toReplies = (movers: readonly Mover[]) => movers.map((mover) => toReply(mover, currency))
    return { value: { top_gainers: toReplies(value.gainers), top_losers: toReplies(value.losers) }, ...age }
  }

function toReply({ coin, price, volume, change }: Mover, currency: Currency) {
  return {
    id: coin.id,
    symbol: coin.symbol,
    name: coin.name,
    image: coin.image,
    market_cap_rank: coin.rank,
    current_price: price,
    price_change_percentage_24h: change,
    [currency]: price,
    [`${currency}_24h_vol`]: volume,
    [`${currency}_24h_change`]: change,
  }
}

export const handler = endpoint(contract, (env) => topGainersLosers({ cache: cacheOf(env), now: Date.now }), apiKey)
