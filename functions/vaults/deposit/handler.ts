import { endpoint } from '../../../lib/frame/endpoint.ts'
import { agree, bridge, pins, quotes, records } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { buildDeposit } from './deposit.ts'

export const handler = endpoint(contract, { agree, bridge, pins, quotes, records }, buildDeposit)
