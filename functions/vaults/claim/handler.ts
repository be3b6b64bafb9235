import { endpoint } from '../../../lib/frame/endpoint.ts'
import { agree, bridge, quotes } from '../../../lib/services.ts'
import { buildClaim } from './claim.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { agree, bridge, quotes }, buildClaim)
