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

/** Maximum events and JSON bytes of a page. A larger event has its own page. */
const [PAGE_EVENTS, PAGE_BYTES] = [50, 200 * 1024]
/** Maximum JSON bytes of a list; a larger event has its own list. Lambda returns at most 6 MB. */
const LIST_BYTES = 2 ** 20
/** Pauses before a list with a hole is read again; older first pages than the last figure are not. */
const [READ_PAUSES_MS, MAX_RECENT_MS] = [[0, 50, 200], 30_000]
/** Retention of an event in the log. */
const LOG_MS = 30 * DAY_MS
/** Retention of the mark that an event is logged. A job that repeats a run later logs it again. */
const MARK_MS = 40 * DAY_MS

/** Place of an event in its client's log. */
export type EventLocation = {
  readonly sequence: number
  /** Sequence of the first event of its page. */
  readonly page: number
}

/** An event in its client's log. */
export type LoggedEvent = EventLocation & { readonly event: WebhookEvent }

/** An event without a sequence. */
export type UnloggedEvent = WebhookEvent extends infer Event
  ? Event extends WebhookEvent
    ? Omit<Event, 'sequence'>
    : never
  : never

const Events = z.tuple([WebhookEvent], WebhookEvent)
/** Codec of a page. Its events are similar, so gzip saves nine tenths of the bytes. */
const Compressed = z.codec(z.instanceof(Uint8Array), Events, {
  decode: (bytes): z.input<typeof Events> => JSON.parse(gunzipSync(bytes).toString()),
  encode: (events) => gzipSync(JSON.stringify(events)),
})
const Page = z.object({ events: Compressed, expiresAt: EpochSeconds })
type Page = z.output<typeof Page>

const Mark = z.object({ sk: z.string() })
const NewMark = z.object({ expiresAt: EpochSeconds })

/** End of a client's log: the next sequence, and the last sequence whose messages are queued. */
export const Head = z.object({ next: z.number().int(), queued: z.number().int() })
export type Head = z.output<typeof Head>
const StoredHead = Head.extend({ pk: z.string() })

/** Range of listed events; `now` in epoch milliseconds. The log reaches at least `last`, if given. */
type ListFrom = { readonly after: number; readonly limit: number; readonly now: number; readonly last?: number }

/**
 * Store of each client's log: pages of events (`LOG#` and the first sequence), a mark per event (`EVENT#`) and the end (`HEAD`). Reads are
 * consistent. Methods throw if the table cannot be reached or an item does not parse.
 */
export function eventLogStore(table: Table) {
  /** Reads the pages from this sequence on, in order. Each request doubles the number of pages, from two on. */
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
    // The page with the next event begins no earlier.
    for await (const { events, expiresAt } of pages(clientId, Math.max(1, after + 2 - PAGE_EVENTS))) {
      // DynamoDB deletes expired items late and in no order.
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
    /** Returns the heads of these clients' logs, by client. A client without events has none. */
    async getHeads(clientIds: readonly string[]): Promise<Map<string, Head>> {
      const heads = await table.getMany(StoredHead, clientIds.map(headKey))
      return new Map(heads.map(({ pk, ...head }) => [pk.slice(clientPartition('').length), head]))
    },

    /** Returns the ids of the events that are logged. */
    async listLogged(events: readonly { readonly clientId: string; readonly id: string }[]): Promise<Set<string>> {
      const marks = await table.getMany(
        Mark,
        events.map(({ clientId, id }) => markKey(clientId, id)),
      )
      return new Set(marks.map(({ sk }) => sk.slice(MARK.length)))
    },

    /** Records that the messages of all events up to a sequence are queued. */
    async markQueued(clientId: string, queued: number): Promise<void> {
      const change = { changes: [set('queued', queued)], when: is('queued', '<', queued) }
      await table.update(headKey(clientId), change).catch((error: unknown) => {
        // Another run is appending. The next run queues these events again and records it.
        if (!(error instanceof Error && error.name === 'TransactionConflictException')) throw error
      })
    },

    /** Returns those of these events that the log has. */
    async getEvents(clientId: string, wanted: readonly EventLocation[]): Promise<WebhookEvent[]> {
      const keys = new Map(wanted.map(({ page }) => [page, pageKey(clientId, page)]))
      const found = await table.getMany(Page, [...keys.values()])
      const sequences = new Set(wanted.map(({ sequence }) => sequence))
      return found.flatMap(({ events }) => events.filter(({ sequence }) => sequences.has(sequence)))
    },

    /** Lists at most `limit` unexpired events, or 1 MB, after a sequence, in order. `after` is 0 for the first. */
    async list(clientId: string, from: ListFrom): Promise<LoggedEvent[]> {
      for (const pause of READ_PAUSES_MS) {
        const { found, appendedAt } = await listOnce(clientId, from)
        // A query is no snapshot: it may miss a page just appended, and return the next one or none.
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

/** Store of the log with the job's `append`. */
export function appendingLogStore(table: TransactingTable) {
  return {
    ...eventLogStore(table),

    /**
     * Appends events as one page with a mark for each: all or none. Returns their places, or that the log no longer ends at `next`, or the
     * ids already logged. Throws for no events; `countFitting` gives the size of a page.
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
        ...numbered.map(({ id }) => ({ put: buildItem(NewMark, markKey(clientId, id), marked), when: missing('pk') })),
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

/** Index of the first mark among the writes of an append. */
const MARKS_FROM = 2

/** Returns how many of these events fit into one page, from the first on: at least one. */
export function countFitting(events: readonly UnloggedEvent[]): number {
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

const MARK = 'EVENT#'
/** Digits of a sequence in a key: enough for 3 years of 10,000 events a second. */
const SEQUENCE_DIGITS = 12
const LAST_SEQUENCE = 10 ** SEQUENCE_DIGITS - 1

function markKey(clientId: string, id: string) {
  return { pk: clientPartition(clientId), sk: `${MARK}${id}` }
}

function headKey(clientId: string) {
  return { pk: clientPartition(clientId), sk: 'HEAD' }
}

function pageKey(clientId: string, sequence: number) {
  return { pk: clientPartition(clientId), sk: `LOG#${`${sequence}`.padStart(SEQUENCE_DIGITS, '0')}` }
}
