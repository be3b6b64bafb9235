import { endpoint } from '../../../lib/frame/endpoint.ts'
import { cache, now } from '../../../lib/services.ts'
import { listCoins } from './coins.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { cache, now }, listCoins)
