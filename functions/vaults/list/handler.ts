import { endpoint } from '../../../lib/frame/endpoint.ts'
import { readerOf, states, yieldOf } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { listVaults } from './list.ts'

export const handler = endpoint(contract, { readerOf, states, yieldOf }, listVaults)
