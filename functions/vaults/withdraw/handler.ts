import { endpoint } from '../../../lib/frame/endpoint.ts'
import { agree, bridge, quotes } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { buildWithdrawal } from './withdraw.ts'

export const handler = endpoint(contract, { agree, bridge, quotes }, buildWithdrawal)
