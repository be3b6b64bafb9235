import { endpoint } from '../../../lib/frame/endpoint.ts'
import { agree, now, records } from '../../../lib/services.ts'
import { buildCancellation } from './cancel.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { agree, records, now }, buildCancellation)
