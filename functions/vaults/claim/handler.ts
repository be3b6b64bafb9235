import { endpoint } from '../../../lib/frame/endpoint.ts'
import { bridge, getReader } from '../../../lib/services.ts'
import { buildClaim } from './claim.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { getReader, bridge }, buildClaim)
