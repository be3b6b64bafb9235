import { endpoint } from '../../../lib/frame/endpoint.ts'
import { bridge, getWitnessedReader } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { buildWithdrawal } from './withdraw.ts'

export const handler = endpoint(contract, { getReader: getWitnessedReader, bridge }, buildWithdrawal)
