import { endpoint } from '../../../lib/frame/endpoint.ts'
import { readerOf } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { getDepositStatus } from './deposit-status.ts'

export const handler = endpoint(contract, { readerOf }, getDepositStatus)
