import { endpoint } from '../../../lib/frame/endpoint.ts'
import { budgets, cache, coinGecko, now } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { searchCoins } from './search.ts'

export const handler = endpoint(contract, { budgets, cache, coinGecko, now }, searchCoins)
