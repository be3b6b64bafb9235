import { setTimeout as sleep } from 'node:timers/promises'
import { runConcurrently } from '../core/side-by-side.ts'
import type { Notice, RewardNotice } from './event.ts'
import { buildEventId } from './ids.ts'
import {
  type AppendingLogStore,
  countEventsThatFitPage,
  type Head,
  type LoggedEvent,
  type UnloggedEvent,
} from './log-store.ts'
import { buildEventMessages, type Enqueue } from './queue.ts'
import type { WebhooksStore } from './store.ts'
import { isLiveWebhook, isSubscribedTo } from './webhook.ts'

type LogServices = {
  readonly eventLog: Pick<AppendingLogStore, 'getHeads' | 'listLogged' | 'append' | 'list' | 'markQueued'>
  readonly webhooks: Pick<WebhooksStore, 'listOf'>
  readonly enqueue: Enqueue
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
  /** Returns a random number in [0, 1). */
  readonly random: () => number
}

/** Maximum attempts to append while other runs append to the same log, and the longest pause between attempts in milliseconds. */
const [TRIES, MAX_PAUSE_MS] = [20, 100]
/** Maximum number of events in one read of the log. */
const AT_ONCE = 100

/**
 * Appends events to the logs of their clients, in order and once per key, then queues them for webhooks. Returns the
 * number of new events. Events that are not final go only to clients with a webhook for them (`latest`). Events that
 * revert another event go only to logs that contain that event. After an error, a repeated call appends only the
 * missing events, and queues all again.
 */
export async function publishNotices<Of extends Notice | RewardNotice>(
  dependencies: LogServices,
  notices: readonly Of[],
  clientsOf: (notice: Of) => readonly string[],
): Promise<number> {
  const { eventLog } = dependencies
  const built = notices.flatMap((notice) => clientsOf(notice).map((clientId) => build(clientId, notice)))
  const wanted = await listWanted(dependencies, built)
  const heads = await eventLog.getHeads([...wanted.keys()])
  const unqueued = new Map<string, readonly LoggedEvent[]>()
  let count = 0
  await runConcurrently(wanted, async ([clientId, events]) => {
    const head = heads.get(clientId) ?? EMPTY
    const { appended, next } = await appendAll(dependencies, clientId, head, events)
    count += appended.length
    const last = next - 1
    // Earlier events may not be queued yet, because another run was killed or is about to queue them. Such events are queued here too.
    const isAll = appended.length === last - head.queued
    unqueued.set(clientId, isAll ? appended : await listUnqueued(dependencies, clientId, { after: head.queued, last }))
  })
  await enqueueLogged(dependencies, unqueued)
  return count
}

/** End of the log of a client without events. */
const EMPTY: Head = { next: 1, queued: 0 }

type ClientEvent = { readonly clientId: string; readonly event: UnloggedEvent }

function build(clientId: string, { key, ...notice }: Notice | RewardNotice): ClientEvent {
  const event: UnloggedEvent = { ...notice, id: buildEventId(clientId, key) }
  // `eventId` is the key of the reverted event. It is replaced by that event's id, which differs for each client.
  if ('eventId' in event.data) event.data = { ...event.data, eventId: buildEventId(clientId, event.data.eventId) }
  return { clientId, event }
}

/**
 * Lists the events to append, by client. Leaves out non-final events that are already logged, because scheduled jobs
 * build these again in each run.
 */
async function listWanted(
  { eventLog, webhooks }: LogServices,
  built: readonly ClientEvent[],
): Promise<ReadonlyMap<string, readonly ClientEvent[]>> {
  const early = built.filter(({ event }) => !event.final)
  const [registered, logged] = await Promise.all([
    webhooks.listOf([...new Set(early.map(({ clientId }) => clientId))]),
    eventLog.listLogged(
      early.flatMap(({ clientId, event: { id, data } }) => [
        { clientId, id },
        ...('eventId' in data ? [{ clientId, id: data.eventId }] : []),
      ]),
    ),
  ])
  const wantsLatest = (clientId: string) =>
    registered.get(clientId)?.some(({ finality }) => finality === 'latest') === true
  const wanted = built.filter(({ clientId, event: { final, data } }) => {
    if (final) return true
    return 'eventId' in data ? logged.has(data.eventId) : wantsLatest(clientId)
  })
  const ofClients = Map.groupBy(wanted, ({ clientId }) => clientId)
  return new Map(
    [...ofClients].map(([clientId, events]) => [clientId, events.filter(({ event }) => !logged.has(event.id))]),
  )
}

async function appendAll(
  { eventLog, now, random }: LogServices,
  clientId: string,
  head: Head,
  events: readonly ClientEvent[],
): Promise<{ readonly appended: readonly LoggedEvent[]; readonly next: number }> {
  const appended: LoggedEvent[] = []
  let { next } = head
  let rest = [...new Map(events.map(({ event }) => [event.id, event])).values()]
  for (let tries = 0; rest.length > 0; ) {
    const page = rest.slice(0, countEventsThatFitPage(rest))
    const outcome = await eventLog.append(clientId, { next, events: page, now: now() })
    if ('appended' in outcome) {
      appended.push(...outcome.appended)
      rest = rest.slice(page.length)
      next += page.length
    } else if ('logged' in outcome) {
      rest = rest.filter(({ id }) => !outcome.logged.has(id))
    } else {
      tries += 1
      if (tries === TRIES) throw new Error('Other runs keep appending to the log.')
      await sleep(random() * MAX_PAUSE_MS)
      next = ((await eventLog.getHeads([clientId])).get(clientId) ?? EMPTY).next
    }
  }
  return { appended, next }
}

/** Lists the events of a log after the sequence number `after`, up to and including `last`. */
async function listUnqueued(
  { eventLog, now }: LogServices,
  clientId: string,
  { after, last }: { readonly after: number; readonly last: number },
): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = []
  for (let at = after; at < last; at = found.at(-1)?.sequence ?? last) {
    const listed = await eventLog.list(clientId, { after: at, limit: AT_ONCE, now: now(), last })
    const wanted = listed.filter(({ sequence }) => sequence <= last)
    if (wanted.length === 0) break
    found.push(...wanted)
  }
  return found
}

async function enqueueLogged(
  { eventLog, webhooks, enqueue }: LogServices,
  unqueued: ReadonlyMap<string, readonly LoggedEvent[]>,
): Promise<void> {
  const clients = [...unqueued].filter(([, events]) => events.length > 0)
  if (clients.length === 0) return
  // Webhooks are read after the append, so that none misses these events. A webhook that is behind at this read gets them from the log.
  const registered = await webhooks.listOf(clients.map(([clientId]) => clientId))
  await enqueue(
    clients.flatMap(([clientId, events]) =>
      (registered.get(clientId) ?? []).filter(isLiveWebhook).flatMap((webhook) =>
        buildEventMessages(
          { clientId, webhookId: webhook.id },
          events.filter(({ event }) => isSubscribedTo(webhook, event)),
        ),
      ),
    ),
  )
  await runConcurrently(clients, async ([clientId, events]) => {
    await eventLog.markQueued(clientId, Math.max(...events.map(({ sequence }) => sequence)))
  })
}
