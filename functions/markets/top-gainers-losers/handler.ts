import { endpoint } from '../../../lib/frame/endpoint.ts'
import { cache, now } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { listTopMovers } from './top-gainers-losers.ts'

export const handler = endpoint(contract, { cache, now }, listTopMovers)
