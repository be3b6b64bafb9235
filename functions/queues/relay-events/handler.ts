import { plainConsumer } from '../../../lib/frame/consumer.ts'
import { eventLog, now, wakeDeliveries, wakeRelays, webhooks } from '../../../lib/services.ts'
import { relayEvents } from '../../../lib/webhooks/relay.ts'
import { contract } from './contract.ts'

export const handler = plainConsumer(
  contract,
  { eventLog, webhooks, wakeRelays, wakeDeliveries, now },
  (services) =>
    async ({ clientId }) => ({ clientId, events: await relayEvents(services, clientId) }),
)
