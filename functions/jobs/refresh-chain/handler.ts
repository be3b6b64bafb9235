import { job } from '../../../lib/frame/job.ts'
import {
  clients,
  getWitnessedReader,
  now,
  pinStore,
  records,
  sources,
  states,
  transfers,
} from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { refreshChain } from './refresh-chain.ts'

export const handler = job(
  contract,
  { clients, records, states, pinStore, transfers, sources, getReader: getWitnessedReader, now },
  refreshChain,
)
