import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, readerOf, records, yieldOf } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { listPositions } from './positions.ts'

export const handler = endpoint(contract, { readerOf, records, yieldOf, now }, listPositions)
