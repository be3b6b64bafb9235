import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getChartByAddress } from '../../../lib/markets/charts.ts'
import { cache, now, priceSources } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { cache, priceSources, now },
  (services) =>
    ({ path, query, payFor }) =>
      getChartByAddress(services, { ...path, ...query, payFor }),
)
