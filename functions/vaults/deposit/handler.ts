import { endpoint } from '../../../lib/frame/endpoint.ts'
import { bridge, readerOf } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { buildDeposit } from './deposit.ts'

export const handler = endpoint(contract, { readerOf, bridge }, buildDeposit)
