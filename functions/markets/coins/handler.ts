import type { SharedCache } from '../../../lib/cache/cache.ts'
import { apiKey } from '../../../lib/frame/api-key.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { cacheOf } from '../../../lib/frame/markets.ts'
import { listSupported, type SupportedToken } from '../../../lib/markets/supported.ts'
import { contract } from './contract.ts'

type Dependencies = { cache: SharedCache; now: () => number }

const coins =
  (dependencies: Dependencies) =>
  async ({ query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { value, ...age } = await listSupported(dependencies, query.currency)
    return { value: value.map(toReply), ...age }
  }

function toReply({ token, chainId, address, price, marketCap, volume, change24h }: SupportedToken) {
  return {
    contract_address: address,
    chainId,
    contract_ticker_symbol: token.symbol,
    contract_decimals: token.decimals,
    contract_name: token.name,
    coinKey: token.coinKey,
    logo_url: token.logoUrl,
    id: token.coinGeckoId || null,
    current_price: price,
    market_cap: marketCap,
    total_volume: volume,
    price_change_percentage_24h: change24h,
  }
}

export const handler = endpoint(contract, (env) => coins({ cache: cacheOf(env), now: Date.now }), apiKey)
