import { endpoint } from '../../../lib/frame/endpoint.ts'
import { cache, now } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { listCoins } from './coins.ts'

export const handler = endpoint(contract, { cache, now }, listCoins)
