import { job } from '../../../lib/frame/job.ts'
import {
  eventLog,
  getWitnessedReader,
  listedVaults,
  now,
  openRequests,
  pinStore,
  records,
  sources,
  states,
  transfers,
  wakeRelays,
  webhooks,
} from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { refreshChain } from './refresh-chain.ts'

export const handler = job(
  contract,
  {
    listedVaults,
    records,
    openRequests,
    states,
    pinStore,
    transfers,
    sources,
    getReader: getWitnessedReader,
    eventLog,
    webhooks,
    wakeRelays,
    now,
  },
  refreshChain,
)
