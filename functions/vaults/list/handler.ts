import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getReader, getTokenValues, getYield, now, pins, states } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { listVaults } from './list.ts'

export const handler = endpoint(contract, { getReader, states, pins, getYield, getTokenValues, now }, listVaults)
