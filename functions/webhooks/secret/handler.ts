import { endpoint } from '../../../lib/frame/endpoint.ts'
import { now, randomBytes, webhookKeys, webhooks } from '../../../lib/services.ts'
import { contract } from './contract.ts'
import { rotate } from './rotate.ts'

export const handler = endpoint(contract, { webhooks, webhookKeys, randomBytes, now }, rotate)
