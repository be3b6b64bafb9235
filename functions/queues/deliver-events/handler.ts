import { consumer } from '../../../lib/frame/consumer.ts'
import {
  deliveries,
  eventLog,
  now,
  random,
  randomUUID,
  sendDelivery,
  wakeDeliveries,
  webhookKeys,
  webhooks,
} from '../../../lib/services.ts'
import { deliverEvents } from '../../../lib/webhooks/delivery.ts'
import { contract } from './contract.ts'

export const handler = consumer(
  contract,
  {
    ...{ webhooks, eventLog, deliveries, webhookKeys, sendDelivery, wakeDeliveries },
    ...{ randomUUID, now, random },
  },
  (services) => (wake) => deliverEvents(services, wake),
)
