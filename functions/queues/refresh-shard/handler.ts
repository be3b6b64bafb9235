import { consumer, each } from '../../../lib/frame/consumer.ts'
import { measure } from '../../../lib/frame/metrics.ts'
import {
  appendingLog,
  enqueueDeliveries,
  getAgreedReader,
  getYield,
  listedVaults,
  now,
  openRequests,
  pinStore,
  prices,
  random,
  recording,
  sleep,
  states,
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
      getYield,
      pinStore,
      eventLog: appendingLog,
      webhooks,
      enqueue: enqueueDeliveries,
      sleep,
      now,
      random,
    },
    getReader: getAgreedReader,
    measure: () => measure,
  },
  (services) => each(refreshShard(services)),
)
