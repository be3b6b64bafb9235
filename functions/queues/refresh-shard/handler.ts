import { consumer } from '../../../lib/frame/consumer.ts'
import { measure } from '../../../lib/frame/metrics.ts'
import {
  eventLog,
  getAgreedReader,
  listedVaults,
  now,
  openRequests,
  pinStore,
  prices,
  recording,
  sleep,
  states,
  wakeRelays,
  webhooks,
} from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { refreshShard } from './refresh-shard.ts'

export const handler = consumer(
  contract,
  {
    ...{
      listedVaults,
      records: recording,
      prices,
      openRequests,
      states,
      pinStore,
      eventLog,
      webhooks,
      wakeRelays,
      sleep,
      now,
    },
    getReader: getAgreedReader,
    measure: () => measure,
  },
  refreshShard,
)
