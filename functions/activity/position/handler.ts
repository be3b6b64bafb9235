import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getReader, getYield, now, records, sources } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { getPosition } from './position.ts'

export const handler = endpoint(contract, { getReader, records, sources, getYield, now }, getPosition)
