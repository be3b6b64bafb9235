import { endpoint } from '../../../lib/frame/endpoint.ts'
import { cache, coinGecko, now, priceSources } from '../../../lib/services.ts'
import { getCoin } from './coin.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { cache, coinGecko, now, priceSources }, getCoin)
