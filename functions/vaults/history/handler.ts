import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, prices } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { getHistory } from './history.ts'

export const handler = endpoint(contract, { prices, now }, getHistory)
