import { endpoint } from '../../../lib/frame/endpoint.ts'
import {
  attempts,
  enqueueDeliveries,
  now,
  randomUUID,
  sendDelivery,
  webhookKeys,
  webhooks,
} from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { sendTest } from './send-test.ts'

export const handler = endpoint(
  contract,
  { webhooks, attempts, webhookKeys, sendDelivery, enqueue: enqueueDeliveries, randomUUID, now },
  sendTest,
)
