import { job } from '../../../lib/frame/job.ts'
import {
  eventLog,
  getWitnessedReader,
  listedVaults,
  now,
  openRequests,
  pinStore,
  prices,
  records,
  runs,
  sources,
  states,
  transfers,
  wakeGroups,
  wakeRelays,
  webhooks,
} from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { refreshChain } from './refresh-chain.ts'

export const handler = job(
  contract,
  {
    listedVaults,
    runs,
    records,
    prices,
    openRequests,
    states,
    pinStore,
    transfers,
    sources,
    getReader: getWitnessedReader,
    eventLog,
    webhooks,
    wakeRelays,
    wakeGroups,
    now,
  },
  refreshChain,
)
