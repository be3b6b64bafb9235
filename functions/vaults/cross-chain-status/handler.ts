import { endpoint } from '../../../lib/frame/endpoint.ts'
import { accountRecords, getReader, getWitnessedReader, now, sources, transfers } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { getCrossChainStatus } from './cross-chain-status.ts'

export const handler = endpoint(
  contract,
  { getReader, getWitnessedReader, transfers, sources, accountRecords, now },
  getCrossChainStatus,
)
