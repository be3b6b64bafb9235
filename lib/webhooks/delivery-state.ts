import * as z from 'zod'
import { Timestamp } from '../codecs.ts'
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
  /** The newest that were given up, which are sent again when the webhook is resumed. */
  givenUp: z.array(GivenUp).default([]),
  /**
   * Batches of new events in a row of which nothing arrived; the first counts as two, unless it is of one event alone. From two
   * on the webhook fails, and since when.
   */
  failures: z.number().int(),
  failingSince: Millis.optional(),
  /** The last delivery that failed, whatever has arrived since. */
  lastFailure: z.object({ at: Millis, reason: SendFailure, status: z.number().int().optional() }).optional(),
  /** Until then nothing is sent. */
  restUntil: Millis.optional(),
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

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Pauses after the first failure, the second and so on, by Standard Webhooks: 75 h 35 min together. */
const PAUSES_MS = [
  ...[5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
]
/** Pauses are longer by up to this share, so that what failed together does not come again together. */
const JITTER = 0.1
/** An event that was sent so often is given up. */
const MOST_ATTEMPTS = PAUSES_MS.length + 1
/** A webhook that has failed for so long is switched off. */
const LONGEST_FAILING_MS = 3 * DAY_MS
/** So many events in a row fail with the webhook: one alone may be refused for what it says. */
const FAILING = 2

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
  return { createdAt, next: after + 1, page: after + 1, retries: {}, givenUp: [], failures: 0 }
}

/** The state of a webhook, by what is kept, which may be of one that was registered before at its URL. */
export function stateOf(webhook: Pick<Webhook, 'createdAt' | 'after'>, kept: DeliveryState | undefined): DeliveryState {
  return kept?.createdAt.getTime() === webhook.createdAt.getTime() ? kept : beginDelivery(webhook)
}

/**
 * The state in which everything that failed is sent anew and at once, what was given up too: the newest of it for which there is
 * room beside what waits, and a whole batch that fails.
 */
export function resume({ failingSince: _, restUntil: __, ...state }: DeliveryState, now: number): DeliveryState {
  const room = Math.max(0, MOST_RETRIES - BATCH - Object.keys(state.retries).length)
  const kept = listGivenUp(state, now)
  const again = kept.slice(0, room)
  const waiting = [...Object.entries(state.retries), ...again.map((one) => [String(one.sequence), one] as const)]
  return {
    ...state,
    retries: Object.fromEntries(waiting.map(([sequence, { page }]) => [sequence, { page, attempts: 0, dueAt: now }])),
    givenUp: kept.slice(room),
    failures: 0,
  }
}

/** What was given up and its client's log still has, the newest first. */
export function listGivenUp({ givenUp }: Pick<DeliveryState, 'givenUp'>, now: number): GivenUp[] {
  return givenUp.filter(({ at }) => at > now - GIVEN_UP_MS)
}

/** Whether nothing arrives, of more than one event. */
export function isFailing({ failures }: Pick<DeliveryState, 'failures'>): boolean {
  return failures >= FAILING
}

/** Whether nothing is sent at this moment. */
export function isResting({ restUntil = 0 }: DeliveryState, now: number): boolean {
  return restUntil > now
}

/** How many events may be sent at once. */
export function batchSize(state: DeliveryState): number {
  return isFailing(state) ? PROBE : BATCH
}

/** The failed events that are to be sent again by this moment, the one that waits longest first, and was sent least. */
export function listDue(state: DeliveryState, now: number): Due[] {
  return listRetries(state)
    .filter(({ dueAt }) => dueAt <= now)
    .sort((left, right) => left.dueAt - right.dueAt || left.attempts - right.attempts)
}

/** When something is to be sent again, of a state in which nothing is to be sent now; undefined where nothing waits. */
export function nextDueAt(state: DeliveryState, now: number): number | undefined {
  const { restUntil } = state
  if (restUntil !== undefined && restUntil > now) return restUntil
  const moments = listRetries(state).map(({ dueAt }) => dueAt)
  return moments.length > 0 ? Math.max(now, Math.min(...moments)) : undefined
}

/** The state without events of which nobody knows any more what they said. */
export function forget(state: DeliveryState, events: readonly EventLocation[]): DeliveryState {
  const forgotten = new Set(events.map(({ sequence }) => String(sequence)))
  const kept = Object.entries(state.retries).filter(([sequence]) => !forgotten.has(sequence))
  return { ...state, retries: Object.fromEntries(kept) }
}

/**
 * What follows from what came of a batch, which is not empty. A failed event waits by itself. Where nothing arrived, of more
 * than one event in a row, the webhook fails: it rests after each that is new, and one is tried at a time. `random` is uniform
 * in [0, 1).
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
  const restFor = Math.max(0, ...failed.map(({ sent }) => throttling(sent)))
  const last = failed.at(-1)?.sent
  const { restUntil: _, ...rested } = forget(
    before,
    results.map(({ due }) => due),
  )
  const state = {
    ...{ ...rested, ...(restFor > 0 && { restUntil: now + restFor }) },
    ...(last && {
      lastFailure: { at: now, reason: last.reason, ...(last.status !== undefined && { status: last.status }) },
    }),
  }
  const gone = failed.some(({ sent: { status } }) => status === GONE) && { disabled: 'gone' as const }
  // What is sent again says nothing new of the webhook.
  const isNew = results.some(({ due }) => due.attempts === 0)
  const isTaking = failed.length < results.length
  const failures = isTaking
    ? 0
    : isNew
      ? Math.max(before.failures + 1, Math.min(results.length, FAILING))
      : before.failures
  if (!isFailing({ failures })) {
    const { failingSince: __, ...healthy } = state
    // What failed while nothing arrived need not wait any longer.
    const waiting = isFailing(before) ? postpone(state.retries, () => now) : state.retries
    return { ...makeRoom(giveUpTired({ ...healthy, failures, retries: { ...waiting, ...again } }, now), now), ...gone }
  }
  const { failingSince = now } = before
  // One finds out for all.
  const until = Math.min(...Object.values(again).map(({ dueAt }) => dueAt))
  const waiting = postpone(state.retries, ({ dueAt }) => Math.max(dueAt, until))
  const rest = isNew && { restUntil: now + Math.max(restFor, pause(failures - 1)) }
  const failing = { ...state, failures, failingSince, retries: { ...waiting, ...again }, ...rest }
  const isOver = now - failingSince >= LONGEST_FAILING_MS && { disabled: 'failing' as const }
  return { ...giveUpTired(failing, now), ...isOver, ...gone }
}

type Retries = DeliveryState['retries']

/** These events, each due at another moment. */
function postpone(retries: Retries, dueAt: (retry: z.output<typeof Retry>) => number): Retries {
  const entries = Object.entries(retries)
  return Object.fromEntries(entries.map(([sequence, retry]) => [sequence, { ...retry, dueAt: dueAt(retry) }]))
}

/** The state in which some of its failed events are sent no more. */
function giveUp(state: DeliveryState, events: readonly EventLocation[], now: number): Judgement {
  const givenUp = [...events.map(({ sequence, page }) => ({ sequence, page, at: now })), ...listGivenUp(state, now)]
  return { state: { ...forget(state, events), givenUp: givenUp.slice(0, MOST_GIVEN_UP) }, givenUp: events.length }
}

/** The same of those that were sent ten times. */
function giveUpTired(state: DeliveryState, now: number): Judgement {
  const tired = listRetries(state).filter(({ attempts }) => attempts >= MOST_ATTEMPTS)
  return giveUp(state, tired, now)
}

function listRetries({ retries }: DeliveryState) {
  return Object.entries(retries).map(([sequence, retry]) => ({ sequence: Number(sequence), ...retry }))
}

/** Milliseconds for which a server wants to be left alone; 0 where it does not say so. */
function throttling({
  status = 0,
  retryAfterMs = THROTTLED.has(status) ? THROTTLED_MS : 0,
}: Sent & { delivered: false }) {
  return Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS)
}

/** Lets a whole batch fail next: by giving up what was sent most, or by resting until one of those that wait is due. */
function makeRoom(judged: Judgement, now: number): Judgement {
  const waiting = listRetries(judged.state).sort((left, right) => right.attempts - left.attempts)
  const tooMany = waiting.length - (MOST_RETRIES - BATCH)
  if (tooMany <= 0) return judged
  const tired = waiting.slice(0, tooMany).filter(({ attempts }) => attempts >= LEAST_ATTEMPTS)
  const { state, givenUp } = giveUp(judged.state, tired, now)
  const dueAt = Math.min(...listRetries(state).map((retry) => retry.dueAt))
  const restUntil = tired.length < tooMany ? Math.max(dueAt, now, state.restUntil ?? 0) : state.restUntil
  return {
    state: { ...state, ...(restUntil !== undefined && { restUntil }) },
    givenUp: judged.givenUp + givenUp,
  }
}
