import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getChartById } from '../../../lib/markets/charts.ts'
import { cache, isListedCoin, now, priceSources } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { cache, isListedCoin, priceSources, now },
  (services) =>
    ({ path, query, payFor }) =>
      getChartById(services, { ...path, ...query, payFor }),
)
