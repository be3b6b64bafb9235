import { endpoint } from '../../../lib/frame/endpoint.ts'
import { chartByAddress } from '../../../lib/markets/charts.ts'
import { budgets, cache, now, priceSources } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { budgets, cache, priceSources, now },
  (services) =>
    ({ path, query, client: { clientId } }) =>
      chartByAddress(services, { ...path, ...query, clientId }),
)
