import { endpoint } from '../../../lib/frame/endpoint.ts'
import { cache, coinGecko, now } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { searchCoins } from './search.ts'

export const handler = endpoint(contract, { cache, coinGecko, now }, searchCoins)
