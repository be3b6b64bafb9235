import { type Notice, placeOf, type WebhookEvent } from './event.ts'
import { buildEventId } from './ids.ts'
import type { EventLogStore, Unlogged } from './log-store.ts'
import { LOG_MS } from './relay.ts'
import type { WebhooksStore } from './store.ts'
import type { WakeRelays } from './wake.ts'

type Dependencies = {
  readonly eventLog: Pick<EventLogStore, 'listLogged' | 'addPending'>
  readonly webhooks: Pick<WebhooksStore, 'listOf'>
  readonly wakeRelays: WakeRelays
  /** Epoch milliseconds. */
  readonly now: () => number
}

/**
 * Tells clients of what happened, each once by the notice's key, and gives how many events wait for their places in logs
 * since. Of one moment what is not final is told first, and in the order of the keys, which have at most 900 bytes. What is
 * not final is told to clients alone that have a webhook for it; where it is taken back, those that were told it are told that.
 * When this throws, some are told and some are not: told again, nobody is told twice.
 */
export async function publish(
  { eventLog, webhooks, wakeRelays, now }: Dependencies,
  notices: readonly Notice[],
  clientsOf: (notice: Notice) => readonly string[],
): Promise<number> {
  const told = notices.flatMap((notice) => clientsOf(notice).map((clientId) => build(clientId, notice)))
  const wanted = await withoutUnwanted({ eventLog, webhooks }, told)
  const logged = await eventLog.listLogged(wanted.map(({ clientId, event: { id } }) => ({ clientId, id })))
  const unlogged = wanted.filter(({ event }) => !logged.has(event.id))
  await eventLog.addPending(unlogged, new Date(now() + LOG_MS))
  await wakeRelays([...new Set(unlogged.map(({ clientId }) => clientId))].map((clientId) => ({ clientId })))
  return unlogged.length
}

function build(clientId: string, notice: Notice): Unlogged {
  const { key, place: _, ...others } = notice
  const event: WebhookEvent = { ...others, id: buildEventId(clientId, key), sequence: 0 }
  // What it takes back is another event for each client.
  if ('eventId' in event.data) event.data = { ...event.data, eventId: buildEventId(clientId, event.data.eventId) }
  return { clientId, place: placeOf(notice), event }
}

/**
 * The events without those that are not final, where the client has no webhook for them. One that takes another back goes to
 * a client also without a webhook, where its log has that one.
 */
async function withoutUnwanted(
  { eventLog, webhooks }: Pick<Dependencies, 'eventLog' | 'webhooks'>,
  built: readonly Unlogged[],
): Promise<Unlogged[]> {
  const clientIds = new Set(built.flatMap(({ clientId, event }) => (event.final ? [] : [clientId])))
  if (clientIds.size === 0) return [...built]
  const registered = await webhooks.listOf([...clientIds])
  const isAskedFor = (clientId: string) =>
    registered.get(clientId)?.some(({ finality }) => finality === 'latest') === true
  const takenBack = built.flatMap(({ clientId, event: { data } }) =>
    'eventId' in data && !isAskedFor(clientId) ? [{ clientId, id: data.eventId }] : [],
  )
  const logged = await eventLog.listLogged(takenBack)
  return built.filter(
    ({ clientId, event: { final, data } }) =>
      final || isAskedFor(clientId) || ('eventId' in data && logged.has(data.eventId)),
  )
}
