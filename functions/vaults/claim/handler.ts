import { endpoint } from '../../../lib/frame/endpoint.ts'
import { bridge, getWitnessedReader } from '../../../lib/services.ts'
import { buildClaim } from './claim.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { getReader: getWitnessedReader, bridge }, buildClaim)
