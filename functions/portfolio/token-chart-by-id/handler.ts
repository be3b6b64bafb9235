import { endpoint } from '../../../lib/frame/endpoint.ts'
import { chartById } from '../../../lib/markets/charts.ts'
import { budgets, cache, isListedCoin, now, priceSources } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { budgets, cache, isListedCoin, priceSources, now },
  (services) =>
    ({ path, query, client: { clientId } }) =>
      chartById(services, { ...path, ...query, clientId }),
)
