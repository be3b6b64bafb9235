import { endpoint } from '../../../lib/frame/endpoint.ts'
import {
  deliveries,
  now,
  randomUUID,
  sendDelivery,
  wakeDeliveries,
  webhookKeys,
  webhooks,
} from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { sendTest } from './send-test.ts'

export const handler = endpoint(
  contract,
  { webhooks, deliveries, webhookKeys, sendDelivery, wakeDeliveries, randomUUID, now },
  sendTest,
)
