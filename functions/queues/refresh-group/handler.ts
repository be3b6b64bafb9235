import { consumer } from '../../../lib/frame/consumer.ts'
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
  states,
  wakeRelays,
  webhooks,
} from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { refreshGroup } from './refresh-group.ts'

export const handler = consumer(
  contract,
  {
    ...{ listedVaults, runs, records, prices, openRequests, states, pinStore, eventLog, webhooks, wakeRelays, now },
    getReader: getWitnessedReader,
  },
  refreshGroup,
)
