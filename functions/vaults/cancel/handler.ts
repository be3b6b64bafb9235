import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getWitnessedReader, now, records } from '../../../lib/services.ts'
import { buildCancellation } from './cancel.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { getReader: getWitnessedReader, records, now }, buildCancellation)
