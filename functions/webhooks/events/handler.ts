import { endpoint } from '../../../lib/frame/endpoint.ts'
import { eventLog, now } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(contract, { eventLog, now }, ({ eventLog, now }) => async ({ client, query }) => {
  const { after = 0, limit } = query
  const logged = await eventLog.list(client.clientId, { after, limit, now: now() })
  return { events: logged.map(({ event }) => event) }
})
