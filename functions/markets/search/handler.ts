import { apiKey } from '../../../lib/frame/api-key.ts'
import { readConfig } from '../../../lib/frame/config.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { cacheOf, sourcesOf } from '../../../lib/frame/markets.ts'
import { type PricedCoin, searchPriced } from '../../../lib/markets/search.ts'
import { contract } from './contract.ts'

type Dependencies = Parameters<typeof searchPriced>[0]

const search =
  (dependencies: Dependencies) =>
  async ({ query, body }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { value, ...age } = await searchPriced(dependencies, body.search, query.currency)
    return { value: value.map(toReply), ...age }
  }

function toReply({ id, name, symbol, apiSymbol, rank, thumb, large, price, change24h }: PricedCoin) {
  return {
    id,
    name,
    symbol,
    api_symbol: apiSymbol,
    market_cap_rank: rank,
    thumb,
    large,
    current_price: price,
    price_change_percentage_24h: change24h,
  }
}

export const handler = endpoint(
  contract,
  async (env) => search({ ...sourcesOf(await readConfig(env)), cache: cacheOf(env), now: Date.now }),
  apiKey,
)
