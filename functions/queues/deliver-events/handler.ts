import { consumer } from '../../../lib/frame/consumer.ts'
import {
  attempts,
  enqueueDeliveries,
  eventLog,
  now,
  postponeDelivery,
  random,
  sendDelivery,
  webhookKeys,
  webhooks,
} from '../../../lib/services.ts'
import { deliverMessages } from '../../../lib/webhooks/deliver.ts'
import { contract } from './contract.ts'

export const handler = consumer(
  contract,
  {
    ...{ webhooks, eventLog, attempts, webhookKeys, sendDelivery, now, random },
    ...{ enqueue: enqueueDeliveries, postpone: postponeDelivery },
  },
  (services) => (batch) => deliverMessages(services, batch),
)
