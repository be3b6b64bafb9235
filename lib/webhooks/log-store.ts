import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import * as z from 'zod'
import { is, missing, set, setOnce } from '../aws/conditions.ts'
import type { PageKey } from '../aws/requests.ts'
import { buildItem, type Table } from '../aws/table.ts'
import type { TransactingTable } from '../aws/transactions.ts'
import { EpochSeconds } from '../core/codecs.ts'
import { DAY_MS } from '../core/time.ts'
import { WebhookEvent } from './event.ts'
import { clientPartition } from './store.ts'

/** Maximum number of events in one page of the log, and of their JSON's bytes. A larger event has a page of its own. */
const [PAGE_EVENTS, PAGE_BYTES] = [50, 200 * 1024]
/** Maximum JSON bytes of one list of events, because Lambda returns at most 6 MB. A larger event is returned by itself. */
const LIST_BYTES = 2 ** 20
/**
 * Pauses, in milliseconds, before a list with missing events is read again. The read is not repeated if the list's
 * first page is older than `MAX_RECENT_MS`.
 */
const [READ_PAUSES_MS, MAX_RECENT_MS] = [[0, 50, 200], 30_000]
/** Milliseconds that an event is kept in the log. */
const LOG_MS = 30 * DAY_MS
/**
 * Milliseconds that the table remembers the id of a logged event. A job that builds the same event later logs it a
 * second time.
 */
const MARK_MS = 40 * DAY_MS

/** Position of an event in its client's log. */
export type EventLogKey = {
  readonly sequence: number
  /**
   * Sequence number of the first event on the log page that contains this event. The key of the page contains this
   * number.
   */
  readonly page: number
}

/** An event in its client's log, with its position. */
export type LoggedEvent = EventLogKey & { readonly event: WebhookEvent }

/** An event that is not in the log yet, and so has no sequence number. */
export type UnloggedEvent = WebhookEvent extends infer Event
  ? Event extends WebhookEvent
    ? Omit<Event, 'sequence'>
    : never
  : never

const Events = z.tuple([WebhookEvent], WebhookEvent)
/** Codec of a page of the log. Its events are similar, so gzip saves nine tenths of the bytes. */
const Compressed = z.codec(z.instanceof(Uint8Array), Events, {
  decode: (bytes): z.input<typeof Events> => JSON.parse(gunzipSync(bytes).toString()),
  encode: (events) => gzipSync(JSON.stringify(events)),
})
const Page = z.object({ events: Compressed, expiresAt: EpochSeconds })
type Page = z.output<typeof Page>

const Mark = z.object({ expiresAt: EpochSeconds })

/** End of a client's log: the sequence number of the next event, and that of the last event whose messages are queued. */
export const Head = z.object({ next: z.number().int(), queued: z.number().int() })
export type Head = z.output<typeof Head>

/**
 * Range of events to list, after the sequence number `after`. `now` is in epoch milliseconds. `last` is a sequence
 * number that the log is known to contain.
 */
type ListFrom = { readonly after: number; readonly limit: number; readonly now: number; readonly last?: number }

/**
 * Store of each client's log of events. Its items are pages of events (`LOG#` and the first sequence number), ids of
 * logged events (`EVENT#`) and the log's end (`HEAD`). Reads are consistent. Methods throw if the table cannot be
 * reached or an item does not parse.
 */
export function eventLogStore(table: Table) {
  /**
   * Reads the log's pages in order, from sequence number `from` on. The first request reads two pages, and each further
   * request twice as many.
   */
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

  async function listOnce(clientId: string, { after, limit, now }: ListFrom) {
    const found: LoggedEvent[] = []
    let bytes = 0
    let appendedAt = 0
    // A page has at most `PAGE_EVENTS` events, so the page with the next event begins at this sequence number or later.
    for await (const { events, expiresAt } of pages(clientId, Math.max(1, after + 2 - PAGE_EVENTS))) {
      // Expired pages are skipped, because DynamoDB deletes them late and in no order.
      if (expiresAt.getTime() <= now) continue
      const page = events[0].sequence
      if (found.length === 0) appendedAt = expiresAt.getTime() - LOG_MS
      for (const event of events.filter(({ sequence }) => sequence > after)) {
        bytes += byteLength(WebhookEvent.encode(event))
        const last = found.at(-1)
        const isApart = last && event.sequence !== last.sequence + 1
        if (isApart || (last && bytes > LIST_BYTES) || found.length === limit) return { found, appendedAt }
        found.push({ sequence: event.sequence, page, event })
      }
    }
    return { found, appendedAt }
  }

  return {
    /** Returns the end (`Head`) of each client's log, by client id; undefined for a client without events. */
    async getHeads(clientIds: readonly string[]): Promise<Map<string, Head | undefined>> {
      const heads = await table.getMany(Head, clientIds.map(headKey))
      return new Map(clientIds.map((clientId, index) => [clientId, heads[index]]))
    },

    /** Returns the ids of those events that are already in the log. */
    async listLogged(events: readonly { readonly clientId: string; readonly id: string }[]): Promise<Set<string>> {
      const marks = await table.getMany(
        Mark,
        events.map(({ clientId, id }) => markKey(clientId, id)),
      )
      return new Set(events.flatMap(({ id }, index) => (marks[index] ? id : [])))
    },

    /** Records that messages are queued for all events up to a sequence number. */
    async markQueued(clientId: string, queued: number): Promise<void> {
      const change = { changes: [set('queued', queued)], when: is('queued', '<', queued) }
      await table.update(headKey(clientId), change).catch((error: unknown) => {
        // A conflict means that another run is appending events. `queued` then stays unchanged, and the next run queues
        // these events again.
        if (!(error instanceof Error && error.name === 'TransactionConflictException')) throw error
      })
    },

    /** Returns the events at these positions that the log still has. */
    async getEvents(clientId: string, wanted: readonly EventLogKey[]): Promise<WebhookEvent[]> {
      const keys = new Map(wanted.map(({ page }) => [page, pageKey(clientId, page)]))
      const found = await table.getMany(Page, [...keys.values()])
      const sequences = new Set(wanted.map(({ sequence }) => sequence))
      return found.flatMap((page) => page?.events.filter(({ sequence }) => sequences.has(sequence)) ?? [])
    },

    /** Lists at most `limit` unexpired events, or 1 MB, after a sequence number, in order. `after` is 0 for the log's beginning. */
    async list(clientId: string, from: ListFrom): Promise<LoggedEvent[]> {
      for (const pause of READ_PAUSES_MS) {
        const { found, appendedAt } = await listOnce(clientId, from)
        // A query is no snapshot, so `found` may lack a page that was just appended. The list is then read again.
        const [first] = found
        const isWhole = first ? first.sequence === from.after + 1 : from.last === undefined
        if (isWhole || (first && from.now - appendedAt > MAX_RECENT_MS)) return found
        await sleep(pause)
      }
      return (await listOnce(clientId, from)).found
    },
  }
}
export type EventLogStore = ReturnType<typeof eventLogStore>

/** Store of clients' logs that can also append events, for scheduled jobs. */
export function appendingLogStore(table: TransactingTable) {
  return {
    ...eventLogStore(table),

    /**
     * Appends events as one page, all or none, and records the id of each. Returns the events with their positions.
     * Appends nothing and returns `isMoved` if another run has appended at `next` meanwhile. Appends nothing and
     * returns `logged` if ids of these events are already in the log. Throws if there are no events. The caller must
     * pass at most as many events as `countEventsThatFitPage` returns.
     */
    async append(
      clientId: string,
      { next, events, now }: { readonly next: number; readonly events: readonly UnloggedEvent[]; readonly now: number },
    ): Promise<AppendResult> {
      const numbered = Events.parse(
        events.map((event, index) => WebhookEvent.encode({ ...event, sequence: next + index })),
      )
      const page = buildItem(Page, pageKey(clientId, next), { events: numbered, expiresAt: new Date(now + LOG_MS) })
      const marked = { expiresAt: new Date(now + MARK_MS) }
      const refused = await table.transact([
        {
          update: headKey(clientId),
          changes: [set('next', next + events.length), setOnce('queued', 0)],
          when: next === 1 ? missing('pk') : is('next', '=', next),
        },
        { put: page, when: missing('pk') },
        ...numbered.map(({ id }) => ({ put: buildItem(Mark, markKey(clientId, id), marked), when: missing('pk') })),
      ])
      if (refused.length === 0) {
        return { appended: numbered.map((event) => ({ sequence: event.sequence, page: next, event })) }
      }
      if (refused.some((index) => index < MARKS_FROM)) return { isMoved: true }
      return { logged: new Set(refused.flatMap((index) => numbered[index - MARKS_FROM]?.id ?? [])) }
    },
  }
}
export type AppendingLogStore = ReturnType<typeof appendingLogStore>

type AppendResult =
  | { readonly appended: readonly LoggedEvent[] }
  | { readonly isMoved: true }
  | { readonly logged: ReadonlySet<string> }

/** Index of the first event id among the writes of `append`. The first two writes are the log's end and the page. */
const MARKS_FROM = 2

/** Returns how many of these events, from the first on, fit into one page of the log: at least one. */
export function countEventsThatFitPage(events: readonly UnloggedEvent[]): number {
  let bytes = 0
  const end = events.findIndex((event, index) => {
    bytes += byteLength(WebhookEvent.encode({ ...event, sequence: LAST_SEQUENCE }))
    return index === PAGE_EVENTS || (index > 0 && bytes > PAGE_BYTES)
  })
  return end === -1 ? events.length : end
}

function byteLength(encoded: z.input<typeof WebhookEvent>): number {
  return Buffer.byteLength(JSON.stringify(encoded))
}

/** Number of digits of a sequence number in a key. Twelve digits are enough for 3 years of 10,000 events a second. */
const SEQUENCE_DIGITS = 12
const LAST_SEQUENCE = 10 ** SEQUENCE_DIGITS - 1

function markKey(clientId: string, id: string) {
  return { pk: clientPartition(clientId), sk: `EVENT#${id}` }
}

function headKey(clientId: string) {
  return { pk: clientPartition(clientId), sk: 'HEAD' }
}

function pageKey(clientId: string, sequence: number) {
  return { pk: clientPartition(clientId), sk: `LOG#${`${sequence}`.padStart(SEQUENCE_DIGITS, '0')}` }
}
