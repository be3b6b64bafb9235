import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, readerOf, records, sources, yieldOf } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { listDeposits } from './deposits.ts'

export const handler = endpoint(contract, { readerOf, records, sources, yieldOf, now }, listDeposits)
