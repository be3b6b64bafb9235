import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getReader, getYield, now, records } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { listWithdrawals } from './withdrawals.ts'

export const handler = endpoint(contract, { getReader, records, getYield, now }, listWithdrawals)
