import { endpoint } from '../../../lib/frame/endpoint.ts'
import { fetchHint, getAgreedReader, getReader, now, quotes, sources, transfers } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { getCrossChainStatus } from './cross-chain-status.ts'

export const handler = endpoint(
  contract,
  { getReader, getAgreedReader, transfers, quotes, sources, fetchHint, now },
  getCrossChainStatus,
)
