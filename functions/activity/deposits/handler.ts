import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getReader, getYield, now, records, sources } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { listDeposits } from './deposits.ts'

export const handler = endpoint(contract, { getReader, records, sources, getYield, now }, listDeposits)
