import { endpoint } from '../../../lib/frame/endpoint.ts'
import { bridge, getWitnessedReader, pins } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { buildDeposit } from './deposit.ts'

export const handler = endpoint(contract, { getReader: getWitnessedReader, bridge, pins }, buildDeposit)
