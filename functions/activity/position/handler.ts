import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, readerOf, records, sources, yieldOf } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { getPosition } from './position.ts'

export const handler = endpoint(contract, { readerOf, records, sources, yieldOf, now }, getPosition)
