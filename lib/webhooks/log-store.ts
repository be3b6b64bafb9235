import * as z from 'zod'
import { any, is, missing, set } from '../aws/conditions.ts'
import type { Item, PageKey } from '../aws/requests.ts'
import { buildItem, type Table } from '../aws/table.ts'
import { EpochSeconds } from '../codecs.ts'
import { sha256 } from '../sha256.ts'
import { WebhookEvent } from './event.ts'
import { clientPartition } from './store.ts'

/** The most events that one item has, and the most bytes of them as JSON, of the 400 KB that DynamoDB takes. */
const [PAGE_EVENTS, PAGE_BYTES] = [50, 200 * 1024]
/** The most items of pending events that are read at once. */
const PENDING_ITEMS = 20
/** Bytes of events as JSON in one list; an event that is larger is a list of its own. Lambda answers 6 MB at most. */
const LIST_BYTES = 2 ** 20

/** Pages that are read ahead. */
export const NEXT_PAGES = 4

/** Where an event is in its client's log. */
export type EventLocation = {
  readonly sequence: number
  /** The sequence of the first event of its page. */
  readonly page: number
}

/** An event for a client's log that has no sequence yet. */
export type Unlogged = {
  readonly clientId: string
  /** Pending events are ordered by these. */
  readonly place: string
  /** Its sequence means nothing yet. */
  readonly event: WebhookEvent
}

const PendingEvent = z.object({ place: z.string(), event: z.looseObject({ id: z.string() }) })
/** A pending event, as it is stored: all of it but its sequence. */
export type PendingEvent = z.output<typeof PendingEvent>

const Pending = z.object({ sk: z.string(), events: z.array(PendingEvent), expiresAt: EpochSeconds })
/** An item of pending events, which were published together. */
export type Pending = z.output<typeof Pending>

const Page = z.object({ events: z.tuple([WebhookEvent], WebhookEvent), expiresAt: EpochSeconds })
type Page = z.output<typeof Page>

const Logged = z.object({ sk: z.string() })
const Mark = z.object({ expiresAt: EpochSeconds })
const Head = z.object({ next: z.number().int() })

/**
 * The log of each client: pending events (`PENDING#`), pages of events with their sequences (`LOG#` and the sequence of the
 * first), a mark for each event that is in a page (`EVENT#`), and the sequence up to which all pages are finished (`HEAD`).
 * Every read is consistent. Every method throws when the table cannot be reached or an item does not parse.
 */
export function eventLogStore(table: Table) {
  /** The pages that begin at this sequence or after it, in order: two at first, and twice as many with each request. */
  async function* pages(clientId: string, from: number): AsyncGenerator<Page> {
    const { pk: partition, sk: first } = pageKey(clientId, from)
    const range = { partition, from: first, to: pageKey(clientId, LAST_SEQUENCE).sk }
    let after: PageKey | undefined
    let limit = 2
    do {
      const found = await table.getPage(Page, range, { limit, after })
      yield* found.items
      after = found.next
      limit *= 2
    } while (after)
  }

  return {
    /** The ids of those of these events that are marked as logged. */
    async listLogged(events: readonly { readonly clientId: string; readonly id: string }[]): Promise<Set<string>> {
      const keys = events.map(({ clientId, id }) => loggedKey(clientId, id))
      const items = await table.getMany(Logged, keys)
      return new Set(items.map(({ sk }) => sk.slice(LOGGED.length)))
    },

    /**
     * Stores events as pending until `until`: a client's in one item, which is written whole or not at all. What is too much for
     * one is in several that are written one after the other, so that when this is cut off the earliest are pending.
     */
    async addPending(events: readonly Unlogged[], until: Date): Promise<void> {
      const rounds: Item[][] = []
      for (const [clientId, ofClient] of Map.groupBy(events, (event) => event.clientId)) {
        let rest = inOrder(ofClient.map(toPendingEvent))
        for (let round = 0; rest.length > 0; round += 1) {
          const together = rest.slice(0, countFitting(rest.map(({ event }) => event)))
          const sk = pendingKey(together)
          const key = { pk: clientPartition(clientId), sk }
          const item = buildItem(Pending, key, { sk, events: together, expiresAt: until })
          rounds[round] = [...(rounds[round] ?? []), item]
          rest = rest.slice(together.length)
        }
      }
      for (const items of rounds) await table.putMany(items)
    },

    /**
     * The first 20 items of pending events, or fewer with 1 MB; none where nothing is pending. Never an item without those that
     * have a lower key, were written before it and are still pending.
     */
    async listPending(clientId: string): Promise<Pending[]> {
      const range = { partition: clientPartition(clientId), prefix: PENDING }
      // A query is no snapshot: it can pass a key just before the item with it is written, and then read a higher one that is
      // written later. The next query reads both. So of two queries that follow each other, the second is taken up to the
      // first item that the other did not read.
      let seen = new Set<string>()
      for (;;) {
        const { items: pending } = await table.getPage(Pending, range, { limit: PENDING_ITEMS })
        const firstNew = pending.findIndex(({ sk }) => !seen.has(sk))
        if (firstNew === -1) return pending
        if (firstNew > 0) return pending.slice(0, firstNew)
        seen = new Set(pending.map(({ sk }) => sk))
      }
    },

    /** Deletes items of pending events. */
    deletePending(clientId: string, pending: readonly Pick<Pending, 'sk'>[]): Promise<void> {
      return table.deleteMany(pending.map(({ sk }) => ({ pk: clientPartition(clientId), sk })))
    },

    /** The sequence of the first event whose page may not be finished; 1 for a client without events. */
    getHead: async (clientId: string): Promise<number> => (await table.get(Head, headKey(clientId)))?.next ?? 1,

    /** Moves that forward; never back. */
    async moveHead(clientId: string, next: number): Promise<void> {
      await table.update(headKey(clientId), {
        changes: [set('next', next)],
        when: any(missing('pk'), is('next', '<', next)),
      })
    },

    /** The pages from this sequence on, at which one begins or the log ends, up to the first gap between two. */
    async listPages(clientId: string, from: number): Promise<(readonly WebhookEvent[])[]> {
      const joined: WebhookEvent[][] = []
      let next = from
      for await (const { events } of pages(clientId, from)) {
        // A query is no snapshot: the page before this one, and then this one, were put while it ran.
        if (events[0].sequence !== next) break
        joined.push(events)
        next += events.length
      }
      return joined
    },

    /** Puts a page at the sequence of its first event, until `until`; false where another is there. */
    putPage: (clientId: string, events: Page['events'], until: Date): Promise<boolean> =>
      table.add(Page, pageKey(clientId, events[0].sequence), { events, expiresAt: until }),

    /** Marks events as logged, until `until`. */
    markLogged: (clientId: string, events: readonly WebhookEvent[], until: Date): Promise<void> =>
      table.putMany(events.map(({ id }) => buildItem(Mark, loggedKey(clientId, id), { expiresAt: until }))),

    /** The next pages from this sequence, at which one begins or the log ends: four of them, fewer where the log ends. */
    async listNext(clientId: string, from: number): Promise<(readonly WebhookEvent[])[]> {
      const found: WebhookEvent[][] = []
      for await (const { events } of pages(clientId, from)) {
        found.push(events)
        if (found.length === NEXT_PAGES) break
      }
      return found
    },

    /** Those of these events that the log has. */
    async getEvents(clientId: string, wanted: readonly EventLocation[]): Promise<WebhookEvent[]> {
      const keys = new Map(wanted.map(({ page }) => [page, pageKey(clientId, page)]))
      const found = await table.getMany(Page, [...keys.values()])
      const sequences = new Set(wanted.map(({ sequence }) => sequence))
      return found.flatMap(({ events }) => events.filter(({ sequence }) => sequences.has(sequence)))
    },

    /**
     * The events after a sequence that the log still has at a moment, in order: `limit` of them, fewer where they are more
     * than 1 MB or the log ends. `after` is 0 for the first.
     */
    async list(
      clientId: string,
      { after, limit, now }: { readonly after: number; readonly limit: number; readonly now: number },
    ): Promise<WebhookEvent[]> {
      const found: WebhookEvent[] = []
      let bytes = 0
      // The page with the next one begins no earlier.
      for await (const { events, expiresAt } of pages(clientId, Math.max(1, after + 2 - PAGE_EVENTS))) {
        // What has ended is deleted some time after, and not in order.
        if (expiresAt.getTime() <= now) continue
        for (const event of events.filter(({ sequence }) => sequence > after)) {
          bytes += Buffer.byteLength(JSON.stringify(WebhookEvent.encode(event)))
          const last = found.at(-1)
          // A query is no snapshot: the page before this one, and then this one, were put while it ran.
          const isApart = last && event.sequence !== last.sequence + 1
          if (isApart || (last && bytes > LIST_BYTES) || found.length === limit) return found
          found.push(event)
        }
      }
      return found
    },
  }
}
export type EventLogStore = ReturnType<typeof eventLogStore>

/** How many of these events fit into one item, from the first on: at least one, however large it is. */
export function countFitting(events: readonly unknown[]): number {
  let bytes = 0
  const end = events.findIndex((event, index) => {
    bytes += Buffer.byteLength(JSON.stringify(event))
    return index === PAGE_EVENTS || (index > 0 && bytes > PAGE_BYTES)
  })
  return end === -1 ? events.length : end
}

/** Pending events in the order of their places. */
export function inOrder<Event extends PendingEvent>(events: readonly Event[]): Event[] {
  return events.toSorted((left, right) => (left.place < right.place ? -1 : 1))
}

function toPendingEvent({ place, event }: Unlogged): PendingEvent {
  const { sequence: _, ...encoded } = WebhookEvent.encode(event)
  return { place, event: encoded }
}

const PENDING = 'PENDING#'

/** Sorts by the first event, and has a hash of all: the same events are the same item, and others never replace it. */
function pendingKey(events: readonly PendingEvent[]): string {
  const hash = sha256(events.map(({ event }) => event.id).join(' '))
  return `${PENDING}${events[0]?.place ?? ''}#${hash.slice(0, 32)}`
}

const LOGGED = 'EVENT#'
/** The digits of a sequence in a key: enough for 3 years of 10,000 events a second. */
const SEQUENCE_DIGITS = 12
const LAST_SEQUENCE = 10 ** SEQUENCE_DIGITS - 1

function loggedKey(clientId: string, id: string) {
  return { pk: clientPartition(clientId), sk: `${LOGGED}${id}` }
}

function headKey(clientId: string) {
  return { pk: clientPartition(clientId), sk: 'HEAD' }
}

function pageKey(clientId: string, sequence: number) {
  return { pk: clientPartition(clientId), sk: `LOG#${`${sequence}`.padStart(SEQUENCE_DIGITS, '0')}` }
}
