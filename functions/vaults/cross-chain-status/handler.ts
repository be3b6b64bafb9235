import { endpoint } from '../../../lib/frame/endpoint.ts'
import { accountRecords, getAgreedReader, getReader, now, sources, transfers } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { getCrossChainStatus } from './cross-chain-status.ts'

export const handler = endpoint(
  contract,
  { getReader, getAgreedReader, transfers, sources, accountRecords, now },
  getCrossChainStatus,
)
