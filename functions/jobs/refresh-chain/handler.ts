import { job } from '../../../lib/frame/job.ts'
import {
  enqueueShards,
  eventLog,
  fetchHint,
  getAgreedReader,
  listedVaults,
  now,
  openRequests,
  pinStore,
  prices,
  quotes,
  recording,
  sleep,
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
    records: recording,
    prices,
    openRequests,
    states,
    pinStore,
    transfers,
    quotes,
    sources,
    fetchHint,
    getReader: getAgreedReader,
    eventLog,
    webhooks,
    wakeRelays,
    enqueueShards,
    sleep,
    now,
  },
  refreshChain,
)
