import { WebhookEvent } from './event.ts'
import type { EventLogStore, Pending } from './log-store.ts'
import type { WebhooksStore } from './store.ts'
import { wants } from './webhook.ts'

/** Has the pending events of these clients moved into their logs, soon; throws when that is not certain. */
export type WakeRelays = (messages: readonly { readonly clientId: string }[]) => Promise<void>

/** Has these webhooks told what they were not told yet, soon; throws when that is not certain. */
export type WakeDeliveries = (
  messages: readonly { readonly clientId: string; readonly webhookId: string }[],
) => Promise<void>

type Dependencies = {
  readonly eventLog: Omit<EventLogStore, 'addPending' | 'list'>
  readonly webhooks: Pick<WebhooksStore, 'list'>
  readonly wakeRelays: WakeRelays
  readonly wakeDeliveries: WakeDeliveries
  /** Epoch milliseconds. */
  readonly now: () => number
}

const DAY_MS = 86_400_000
/** For how long the log has an event, and an event waits for its place at most. */
export const LOG_MS = 30 * DAY_MS
/** For how long it is known that an event has its place: for longer than it can wait for one. */
const LOGGED_MS = 40 * DAY_MS

/** Bytes of events as JSON in one page, of the 400 KB that DynamoDB takes; an event that is larger has a page of its own. */
const PAGE_BYTES = 200 * 1024
/** Pages that are put at one call. */
const MOST_PAGES = 20

/**
 * Moves a client's pending events into its log, in order and each once, whoever else is at it and wherever it was killed
 * before; those that are left after 20 pages with another call. Gives how many it moved. Throws when the table or a queue
 * cannot be reached: it is then to be called again.
 */
export async function relayEvents(dependencies: Dependencies, clientId: string): Promise<number> {
  const { eventLog, wakeRelays, now } = dependencies
  // Before what is pending and what is logged is read: an event of a page that is put after this is in the page's own place,
  // which only one relay gets, and one of a page before is known to be logged.
  let next = await finishLog(dependencies, clientId)
  let moved = 0
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const pending = await eventLog.listPending(clientId)
    if (pending.length === 0) return moved
    const logged = await eventLog.listLogged(pending.map(({ event: { id } }) => ({ clientId, id })))
    const { events, done } = buildPage(pending, logged, next, now())
    const [first, ...others] = events
    if (first && !(await eventLog.putPage(clientId, [first, ...others], new Date(now() + LOG_MS)))) {
      next = await finishLog(dependencies, clientId)
      continue
    }
    if (first) await finishPage(dependencies, clientId, events)
    await eventLog.deletePending(clientId, done)
    next += events.length
    moved += events.length
  }
  await wakeRelays([{ clientId }])
  return moved
}

/** Finishes the pages that another relay has put and not finished, and gives the sequence at which the log ends. */
async function finishLog(dependencies: Dependencies, clientId: string): Promise<number> {
  let next = await dependencies.eventLog.getHead(clientId)
  for (const events of await dependencies.eventLog.listPages(clientId, next)) {
    await finishPage(dependencies, clientId, events)
    next += events.length
  }
  return next
}

/** Does what comes after events have their places, which can be done again; the log's head is moved when all of it is done. */
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

/**
 * The next page's events, with their sequences, and what is pending no more with them: besides these what is logged already,
 * and what has waited for so long that it may not be known any more whether it is.
 */
function buildPage(pending: readonly Pending[], logged: ReadonlySet<string>, next: number, now: number) {
  const events = new Map<string, WebhookEvent>()
  const done: Pending[] = []
  let bytes = 0
  for (const one of pending) {
    const { event, expiresAt } = one
    if (!logged.has(event.id) && !events.has(event.id) && expiresAt.getTime() > now) {
      bytes += Buffer.byteLength(JSON.stringify(event))
      if (events.size > 0 && bytes > PAGE_BYTES) break
      events.set(event.id, WebhookEvent.parse({ ...event, sequence: next + events.size }))
    }
    done.push(one)
  }
  return { events: [...events.values()], done }
}
