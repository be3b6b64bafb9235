import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getReader, now, records } from '../../../lib/services.ts'
import { buildCancellation } from './cancel.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { getReader, records, now }, buildCancellation)
