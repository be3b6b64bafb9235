import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getReader, getYield, now, prices, records, sources } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { getPosition } from './position.ts'

export const handler = endpoint(contract, { getReader, records, prices, sources, getYield, now }, getPosition)
