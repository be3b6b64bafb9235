import { endpoint } from '../../../lib/frame/endpoint.ts'
import { bridge, getReader } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { buildWithdrawal } from './withdraw.ts'

export const handler = endpoint(contract, { getReader, bridge }, buildWithdrawal)
