import * as z from 'zod'
import { Timestamp } from '../codecs.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../time.ts'
import type { EventLocation } from './log-store.ts'
import { SendFailure, type Sent } from './sent.ts'
import type { DisabledReason, Webhook } from './webhook.ts'

const Millis = z.number().int()

/** An event that failed, by its sequence: the first sequence of its page, how often it was sent, and when it is sent again. */
const Retry = z.object({ page: z.number().int(), attempts: z.number().int(), dueAt: Millis })

/** An event that is sent no more, with the moment since when. */
const GivenUp = z.object({ sequence: z.number().int(), page: z.number().int(), at: Millis })
export type GivenUp = z.output<typeof GivenUp>

/** How far a webhook has been told its client's log, and how that goes. Moments are in epoch milliseconds. */
export const DeliveryState = z.object({
  /** When the webhook was registered of which this is: a URL that is registered again begins anew. */
  createdAt: Timestamp,
  /** All before this sequence is done, in `retries` or in `givenUp`; and the one at which the page begins where the rest is. */
  next: z.number().int(),
  page: z.number().int(),
  retries: z.record(z.string(), Retry),
  /** The newest that were given up, which are sent again when the webhook is resumed; and how many were before these. */
  givenUp: z.array(GivenUp).default([]),
  givenUpBefore: z.number().int().default(0),
  /**
   * Batches of new events in a row that failed for the server and not for the events; the first counts as two, unless it is of
   * one event alone. From two on the server is down.
   */
  failures: z.number().int(),
  /** New events in a row that were not taken, for whatever reason, while any of them waits; and since when nothing was. */
  untaken: z.number().int().default(0),
  failingSince: Millis.optional(),
  /** The last delivery that failed, whatever has arrived since. */
  lastFailure: z.object({ at: Millis, reason: SendFailure, status: z.number().int().optional() }).optional(),
  /** Until then nothing is sent. */
  restUntil: Millis.optional(),
  /** Until then nothing is sent again while the server is down. */
  retriesRestUntil: Millis.optional(),
  /** When the message comes that was held back for what is due later. */
  timerAt: Millis.optional(),
})
export type DeliveryState = z.output<typeof DeliveryState>

/** An event that is sent, with how often it was sent before. */
export type Due = EventLocation & { readonly attempts: number }

/** What follows from a batch: the state, how many events are sent no more, and why nothing is sent any more. */
export type Judgement = {
  readonly state: DeliveryState
  readonly givenUp: number
  readonly disabled?: DisabledReason
}

/** Pauses after the first failure, the second and so on, by Standard Webhooks: 75 h 35 min together. */
const PAUSES_MS = [5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS)]
/** Pauses are longer by up to this share, so that what failed together does not come again together. */
const JITTER = 0.1
/** An event that was sent so often is given up. */
const MOST_ATTEMPTS = PAUSES_MS.length + 1
/** A webhook that has failed for so long is switched off. */
const LONGEST_FAILING_MS = 3 * DAY_MS
/** So many events in a row fail with the webhook: one alone may fail for what it says. */
const FAILING = 2
/** The refusals (4xx) that are of the server, and not of what the event says. */
const NO_REFUSALS: ReadonlySet<number> = new Set([408, 410, 425, 429])

/** What a server says that has too much to do, and how long it is left alone where it does not say. */
const THROTTLED: ReadonlySet<number> = new Set([429, 502, 504])
const THROTTLED_MS = MINUTE_MS
const LONGEST_RETRY_AFTER_MS = DAY_MS
/** What a server says that wants nothing any more. */
const GONE = 410

/** Events that are sent side by side, and to a webhook that last took nothing. */
const BATCH = 10
const PROBE = 1
/** Failed events that wait: beyond, those that were sent most are given up, once they were sent for half an hour. */
const MOST_RETRIES = 100
const LEAST_ATTEMPTS = 4
/** Events that were given up and are kept, and for how long: the log has them no more then. */
const MOST_GIVEN_UP = 100
const GIVEN_UP_MS = 30 * DAY_MS

/** The state of a webhook that was never told anything. */
function beginDelivery({ createdAt, after }: Pick<Webhook, 'createdAt' | 'after'>): DeliveryState {
  const none = { retries: {}, givenUp: [], givenUpBefore: 0, failures: 0, untaken: 0 }
  return { createdAt, next: after + 1, page: after + 1, ...none }
}

/** The state of a webhook, by what is kept, which may be of one that was registered before at its URL. */
export function stateOf(webhook: Pick<Webhook, 'createdAt' | 'after'>, kept: DeliveryState | undefined): DeliveryState {
  return kept?.createdAt.getTime() === webhook.createdAt.getTime() ? kept : beginDelivery(webhook)
}

/** What is to be sent although it is not due: whatever waits for a rest to end, or all that failed, given up or not. */
export const Resumption = z.enum(['rest', 'all'])
export type Resumption = z.output<typeof Resumption>

/**
 * The state without its rests; of `all`, in which besides everything that failed is sent anew and at once, what was given up too:
 * the newest of it for which there is room beside what waits, and a whole batch that fails.
 */
export function resume(state: DeliveryState, resumption: Resumption, now: number): DeliveryState {
  const { restUntil: _, retriesRestUntil: __, ...rested } = state
  if (resumption === 'rest') return rested
  const { failingSince: ___, ...taking } = rested
  const room = Math.max(0, MOST_RETRIES - BATCH - Object.keys(state.retries).length)
  const kept = listGivenUp(state, now)
  const again = kept.slice(0, room)
  const waiting = [...Object.entries(state.retries), ...again.map((one) => [String(one.sequence), one] as const)]
  return {
    ...taking,
    retries: Object.fromEntries(waiting.map(([sequence, { page }]) => [sequence, { page, attempts: 0, dueAt: now }])),
    givenUp: kept.slice(room),
    ...{ failures: 0, untaken: 0 },
  }
}

/** What was given up and its client's log still has, the newest first. */
export function listGivenUp({ givenUp }: Pick<DeliveryState, 'givenUp'>, now: number): GivenUp[] {
  return givenUp.filter(({ at }) => at > now - GIVEN_UP_MS)
}

/** Since when nothing is taken, of more than one event, in epoch milliseconds; undefined where something is. */
export function failingSince(state: Pick<DeliveryState, 'untaken' | 'failingSince'>): number | undefined {
  return state.untaken >= FAILING ? state.failingSince : undefined
}

/** Whether the server fails, of more than one event. */
export function isDown({ failures }: Pick<DeliveryState, 'failures'>): boolean {
  return failures >= FAILING
}

/** Whether nothing is sent at this moment. */
export function isResting({ restUntil = 0 }: DeliveryState, now: number): boolean {
  return restUntil > now
}

/** How many events may be sent at once. */
export function batchSize(state: DeliveryState): number {
  return isDown(state) ? PROBE : BATCH
}

/** How many new events may fail until as many wait as can. */
export function roomFor({ retries }: Pick<DeliveryState, 'retries'>): number {
  return Math.max(0, MOST_RETRIES - Object.keys(retries).length)
}

/** The failed events that are to be sent again by this moment, the one that waits longest first, and was sent least. */
export function listDue(state: DeliveryState, now: number): Due[] {
  if ((state.retriesRestUntil ?? 0) > now) return []
  return listRetries(state)
    .filter(({ dueAt }) => dueAt <= now)
    .sort((left, right) => left.dueAt - right.dueAt || left.attempts - right.attempts)
}

/** When something is to be sent again, of a state in which nothing is to be sent now; undefined where nothing waits. */
export function nextDueAt(state: DeliveryState, now: number): number | undefined {
  const { restUntil, retriesRestUntil = now } = state
  if (restUntil !== undefined && restUntil > now) return restUntil
  const moments = listRetries(state).map(({ dueAt }) => dueAt)
  return moments.length > 0 ? Math.max(now, retriesRestUntil, Math.min(...moments)) : undefined
}

/** The state without events of which nobody knows any more what they said. */
export function forget(state: DeliveryState, events: readonly EventLocation[]): DeliveryState {
  const forgotten = new Set(events.map(({ sequence }) => String(sequence)))
  const kept = Object.entries(state.retries).filter(([sequence]) => !forgotten.has(sequence))
  return { ...state, retries: Object.fromEntries(kept) }
}

/**
 * What follows from what came of a batch, which is not empty. A failed event waits by itself, and never less than its pause.
 * Where the server fails of more than one event in a row, it is down: nothing is sent for a while after each that is new, and one
 * is tried at a time. `random` is uniform in [0, 1).
 */
export function judge(
  before: DeliveryState,
  results: readonly { readonly due: Due; readonly sent: Sent }[],
  { now, random }: { readonly now: number; readonly random: () => number },
): Judgement {
  const pause = (times: number) => Math.round((PAUSES_MS[times - 1] ?? PAUSES_MS.at(-1) ?? 0) * (1 + JITTER * random()))
  const failed = results.flatMap(({ due, sent }) => (sent.delivered ? [] : [{ due, sent }]))
  const again = Object.fromEntries(
    failed.map(({ due: { sequence, page, attempts } }) => [
      sequence,
      { page, attempts: attempts + 1, dueAt: now + pause(attempts + 1) },
    ]),
  )
  // What is sent again says nothing new of the webhook.
  const fresh = failed.filter(({ due }) => !(due.sequence in before.retries)).length
  const isTaken = failed.length < results.length
  const isUp = isTaken || failed.some(({ sent }) => isRefusal(sent))
  const more = fresh > 0 ? Math.max(before.failures + 1, Math.min(results.length, FAILING)) : before.failures
  const failures = isUp ? 0 : more

  const { failingSince: since, restUntil: _, retriesRestUntil: __, ...rested } = before
  const askedFor = Math.max(0, ...failed.map(({ sent }) => throttling(sent)))
  const restFor = isDown({ failures }) && fresh > 0 ? Math.max(askedFor, pause(failures - 1)) : askedFor
  const last = failed.at(-1)?.sent
  const { retries } = forget(
    before,
    results.map(({ due }) => due),
  )
  const state: DeliveryState = {
    ...rested,
    ...{ failures, retries: { ...retries, ...again }, untaken: isTaken ? 0 : before.untaken + fresh },
    ...(!isTaken && { failingSince: since ?? now }),
    ...(restFor > 0 && { restUntil: now + restFor }),
    // One finds out for all.
    ...(isDown({ failures }) && { retriesRestUntil: Math.min(...Object.values(again).map(({ dueAt }) => dueAt)) }),
    ...(last && {
      lastFailure: { at: now, reason: last.reason, ...(last.status !== undefined && { status: last.status }) },
    }),
  }
  const isGone = failed.some(({ sent: { status } }) => status === GONE)
  const isOver = now - (failingSince(state) ?? now) >= LONGEST_FAILING_MS
  const disabled = isGone ? 'gone' : isOver ? 'failing' : undefined
  return { ...giveUp(state, listTired(state), now), ...(disabled && { disabled }) }
}

/** The failed events that are sent no more: after ten times, and those sent most where there is no room for a batch that fails. */
function listTired(state: DeliveryState): EventLocation[] {
  const waiting = listRetries(state).sort((left, right) => right.attempts - left.attempts)
  const tooMany = waiting.length - (MOST_RETRIES - BATCH)
  return waiting.filter(
    ({ attempts }, index) => attempts >= MOST_ATTEMPTS || (index < tooMany && attempts >= LEAST_ATTEMPTS),
  )
}

/** The state in which some of its failed events are sent no more; where nothing waits then, nothing is known to fail. */
function giveUp(state: DeliveryState, events: readonly EventLocation[], now: number): Judgement {
  if (events.length === 0) return { state, givenUp: 0 }
  const givenUp = [...events.map(({ sequence, page }) => ({ sequence, page, at: now })), ...listGivenUp(state, now)]
  const { failingSince: since, ...kept } = forget(state, events)
  const isWaiting = Object.keys(kept.retries).length > 0
  return {
    state: {
      ...kept,
      ...(isWaiting && since !== undefined && { failingSince: since }),
      untaken: isWaiting ? kept.untaken : 0,
      givenUp: givenUp.slice(0, MOST_GIVEN_UP),
      givenUpBefore: kept.givenUpBefore + Math.max(0, givenUp.length - MOST_GIVEN_UP),
    },
    givenUp: events.length,
  }
}

function listRetries({ retries }: DeliveryState) {
  return Object.entries(retries).map(([sequence, retry]) => ({ sequence: Number(sequence), ...retry }))
}

/** Whether the server is up, and does not want this event. */
function isRefusal({ status = 0 }: Sent): boolean {
  return status >= 400 && status < 500 && !NO_REFUSALS.has(status)
}

/** Milliseconds for which a server wants to be left alone; 0 where it does not say so. */
function throttling({
  status = 0,
  retryAfterMs = THROTTLED.has(status) ? THROTTLED_MS : 0,
}: Sent & { delivered: false }) {
  return Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS)
}
