import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, readerOf, sources, transfers } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { getCrossChainStatus } from './cross-chain-status.ts'

export const handler = endpoint(contract, { readerOf, transfers, sources, now }, getCrossChainStatus)
