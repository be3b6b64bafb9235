import { DAY_MS } from '../time.ts'
import { WebhookEvent } from './event.ts'
import { countFitting, type EventLogStore, inOrder, type Pending, type PendingEvent } from './log-store.ts'
import type { WebhooksStore } from './store.ts'
import type { WakeDeliveries, WakeRelays } from './wake.ts'
import { wants } from './webhook.ts'

type Dependencies = {
  readonly eventLog: Omit<EventLogStore, 'addPending' | 'list'>
  readonly webhooks: Pick<WebhooksStore, 'list'>
  readonly wakeRelays: WakeRelays
  readonly wakeDeliveries: WakeDeliveries
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** For how long an event is in the log, and for how long it is pending at most. */
export const LOG_MS = 30 * DAY_MS
/** For how long an event is marked as logged: longer than it can be pending. */
const LOGGED_MS = 40 * DAY_MS

/** The most pages that one call puts. */
const MOST_PAGES = 20

/**
 * Moves a client's pending events into its log, in order and each once, also while others do the same and after one of them was
 * killed. After 20 pages it leaves the rest to another call, for which it sends a message. Gives how many events it moved. Throws
 * when the table or a queue cannot be reached: it is then to be called again.
 */
export async function relayEvents(dependencies: Dependencies, clientId: string): Promise<number> {
  const { eventLog, wakeRelays, now } = dependencies
  // The end of the log is read before what is pending and what is marked: events of pages up to there are marked by now, and of
  // those relays that put a page there all but one are refused.
  let next = await finishLog(dependencies, clientId)
  let moved = 0
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const pending = await eventLog.listPending(clientId)
    if (pending.length === 0) return moved
    const waiting = findWaiting(pending, now())
    const logged = await eventLog.listLogged(waiting.map(({ id }) => ({ clientId, id })))
    const unlogged = waiting
      .filter(({ id }) => !logged.has(id))
      .map((event, index) => ({ ...event, sequence: next + index }))
    const events = unlogged.slice(0, countFitting(unlogged)).map((event) => WebhookEvent.parse(event))
    const [first, ...others] = events
    if (first && !(await eventLog.putPage(clientId, [first, ...others], new Date(now() + LOG_MS)))) {
      next = await finishLog(dependencies, clientId)
      continue
    }
    if (first) await finishPage(dependencies, clientId, events)
    const left = new Set(unlogged.slice(events.length).map(({ id }) => id))
    await eventLog.deletePending(
      clientId,
      pending.filter((item) => item.events.every(({ event }) => !left.has(event.id))),
    )
    next += events.length
    moved += events.length
  }
  await wakeRelays([{ clientId }])
  return moved
}

/** Finishes the pages that other relays have put and not finished, and gives the sequence of the next event of the log. */
async function finishLog(dependencies: Dependencies, clientId: string): Promise<number> {
  let next = await dependencies.eventLog.getHead(clientId)
  for (const events of await dependencies.eventLog.listPages(clientId, next)) {
    await finishPage(dependencies, clientId, events)
    next += events.length
  }
  return next
}

/** Wakes the webhooks that want events of a page, marks these as logged, and only then moves the head: all can be done again. */
async function finishPage(
  { eventLog, webhooks, wakeDeliveries, now }: Dependencies,
  clientId: string,
  events: readonly WebhookEvent[],
): Promise<void> {
  const registered = await webhooks.list(clientId)
  const woken = registered.filter(
    (webhook) => webhook.disabledAt === undefined && events.some((event) => wants(webhook, event)),
  )
  await wakeDeliveries(woken.map(({ id }) => ({ clientId, webhookId: id })))
  await eventLog.markLogged(clientId, events, new Date(now() + LOGGED_MS))
  const last = events.at(-1)
  if (last) await eventLog.moveHead(clientId, last.sequence + 1)
}

/** The pending events in order, each once, without those that have ended: their marks may have ended too. */
function findWaiting(pending: readonly Pending[], now: number): PendingEvent['event'][] {
  const waiting = inOrder(pending.flatMap(({ events, expiresAt }) => (expiresAt.getTime() > now ? events : [])))
  return [...new Map(waiting.map(({ event }) => [event.id, event])).values()]
}
