import { endpoint } from '../../../lib/frame/endpoint.ts'
import { budgets, cache, coinGecko, isListedCoin, now, priceSources } from '../../../lib/services.ts'
import { getCoin } from './coin.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { budgets, cache, coinGecko, isListedCoin, now, priceSources }, getCoin)
