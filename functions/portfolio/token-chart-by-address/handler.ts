import { apiKey } from '../../../lib/frame/api-key.ts'
import { readConfig } from '../../../lib/frame/config.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { cacheOf, sourcesOf } from '../../../lib/frame/markets.ts'
import { chartResponse } from '../../../lib/markets/chart-response.ts'
import { chartByAddress } from '../../../lib/markets/charts.ts'
import { contract } from './contract.ts'

type Dependencies = Parameters<typeof chartByAddress>[0]

const tokenChartByAddress =
  (dependencies: Dependencies) =>
  async ({ path, query }: Request<typeof contract>): Promise<Reply<typeof contract>> =>
    chartResponse(await chartByAddress(dependencies, path.network, path.address, query), query)

export const handler = endpoint(
  contract,
  async (env) => tokenChartByAddress({ ...sourcesOf(await readConfig(env)), cache: cacheOf(env), now: Date.now }),
  apiKey,
)
