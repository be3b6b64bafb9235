import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { chartResponse } from '../../../lib/markets/chart-response.ts'
import { chartByAddress } from '../../../lib/markets/charts.ts'
import { cache, coinGecko, defiLlama, now, type Services } from '../../../lib/services.ts'
import { contract } from './contract.ts'

const getChart =
  (services: Services<'cache' | 'coinGecko' | 'defiLlama' | 'now'>) =>
  async ({ path, query }: Request<typeof contract>): Promise<Reply<typeof contract>> =>
    chartResponse(await chartByAddress(services, path.network, path.address, query), query)

export const handler = endpoint(contract, { cache, coinGecko, defiLlama, now }, getChart)
