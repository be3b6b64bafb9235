import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getReader, now, records } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { getWithdrawStatus } from './withdraw-status.ts'

export const handler = endpoint(contract, { getReader, records, now }, getWithdrawStatus)
