import * as z from 'zod'
import { Timestamp } from '../codecs.ts'
import type { EventLocation } from './log-store.ts'
import { SendFailure, type Sent } from './sent.ts'
import type { DisabledReason, Webhook } from './webhook.ts'

const Millis = z.number().int()

/** An event that failed, by its sequence: the first sequence of its page, how often it was sent, and when it is sent again. */
const Retry = z.object({ page: z.number().int(), attempts: z.number().int(), dueAt: Millis })

/** How far a webhook has been told its client's log, and how that goes. Moments are in epoch milliseconds. */
export const DeliveryState = z.object({
  /** When the webhook was registered of which this is: a URL that is registered again begins anew. */
  createdAt: Timestamp,
  /** All before this sequence is done or in `retries`, and the one at which the page begins where the rest is. */
  next: z.number().int(),
  page: z.number().int(),
  retries: z.record(z.string(), Retry),
  /** Batches in a row of which nothing arrived, since when, and why the last one failed. */
  failures: z.number().int(),
  failingSince: Millis.optional(),
  lastFailure: z.object({ reason: SendFailure, status: z.number().int().optional() }).optional(),
  /** Until then nothing is sent. */
  restUntil: Millis.optional(),
  /** When the message comes that was held back for what is due later. */
  timerAt: Millis.optional(),
})
export type DeliveryState = z.output<typeof DeliveryState>

/** An event that is sent, with how often it was sent before. */
export type Due = EventLocation & { readonly attempts: number }

/** What follows from a batch: the state, the events that are sent no more, and why nothing is sent any more. */
export type Judgement = {
  readonly state: DeliveryState
  readonly dead: readonly EventLocation[]
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
/** An event that was sent so often, while others arrived, goes to the dead letters. */
const MOST_ATTEMPTS = PAUSES_MS.length + 1
/** A webhook that took nothing for so long is switched off. */
const LONGEST_FAILING_MS = 3 * DAY_MS

/** What a server says that has too much to do, and how long it is left alone where it does not say. */
const THROTTLED: ReadonlySet<number> = new Set([429, 502, 504])
const THROTTLED_MS = MINUTE_MS
const LONGEST_RETRY_AFTER_MS = DAY_MS
/** What a server says that wants nothing any more. */
const GONE = 410

/** Events that are sent side by side, and to a webhook that last took nothing. */
const BATCH = 10
const PROBE = 1
/** Failed events that wait: beyond, those that were sent most go to the dead letters, once they were sent for half an hour. */
const MOST_RETRIES = 100
const LEAST_ATTEMPTS = 4

/** The state of a webhook that was never told anything. */
export function beginDelivery({ createdAt, after }: Pick<Webhook, 'createdAt' | 'after'>): DeliveryState {
  return { createdAt, next: after + 1, page: after + 1, retries: {}, failures: 0 }
}

/** Whether an event may wait besides those that do, and a whole batch fail then. */
export function hasRoom({ retries }: DeliveryState, { sequence }: EventLocation): boolean {
  return sequence in retries || Object.keys(retries).length < MOST_RETRIES - BATCH
}

/** Whether nothing is sent at this moment. */
export function isResting({ restUntil = 0 }: DeliveryState, now: number): boolean {
  return restUntil > now
}

/** How many events may be sent at once. */
export function batchSize({ failures }: DeliveryState): number {
  return failures > 0 ? PROBE : BATCH
}

/** The failed events that are to be sent again by this moment, the one that waits longest first. */
export function listDue({ retries }: DeliveryState, now: number): Due[] {
  return Object.entries(retries)
    .filter(([, { dueAt }]) => dueAt <= now)
    .sort(([, left], [, right]) => left.dueAt - right.dueAt)
    .map(([sequence, { page, attempts }]) => ({ sequence: Number(sequence), page, attempts }))
}

/** When something is to be sent again, of a state in which nothing is to be sent now; undefined where nothing waits. */
export function nextDueAt({ restUntil, retries }: DeliveryState, now: number): number | undefined {
  if (restUntil !== undefined && restUntil > now) return restUntil
  const moments = Object.values(retries).map(({ dueAt }) => dueAt)
  return moments.length > 0 ? Math.max(now, Math.min(...moments)) : undefined
}

/** The state without events of which nobody knows any more what they said. */
export function forget(state: DeliveryState, events: readonly EventLocation[]): DeliveryState {
  const forgotten = new Set(events.map(({ sequence }) => String(sequence)))
  const kept = Object.entries(state.retries).filter(([sequence]) => !forgotten.has(sequence))
  return { ...state, retries: Object.fromEntries(kept) }
}

/**
 * What follows from what came of a batch, which is not empty. A failed event among others waits by itself; where nothing
 * arrived of what is new, the webhook rests. `random` is uniform in [0, 1).
 */
export function judge(
  before: DeliveryState,
  results: readonly { readonly due: Due; readonly sent: Sent }[],
  { now, random }: { readonly now: number; readonly random: () => number },
): Judgement {
  const pause = (failures: number) =>
    Math.round((PAUSES_MS[failures - 1] ?? PAUSES_MS.at(-1) ?? 0) * (1 + JITTER * random()))
  const { restUntil: _, ...rested } = forget(
    before,
    results.map(({ due }) => due),
  )
  const failed = results.flatMap(({ due, sent }) => (sent.delivered ? [] : [{ due, sent }]))
  const gone = failed.some(({ sent }) => sent.status === GONE) && { disabled: 'gone' as const }
  const dead: EventLocation[] = []
  const isBack = before.failures > 0 && failed.length < results.length
  // What failed while it took nothing need not wait any longer.
  const retries = Object.fromEntries(
    Object.entries(rested.retries).map(([sequence, retry]) => [sequence, isBack ? { ...retry, dueAt: now } : retry]),
  )
  for (const { due } of failed) {
    const { sequence, page } = due
    const attempts = due.attempts + 1
    if (attempts >= MOST_ATTEMPTS) dead.push({ sequence, page })
    else retries[sequence] = { page, attempts, dueAt: now + pause(attempts) }
  }
  const restFor = Math.max(0, ...failed.map(({ sent }) => throttling(sent)))
  // Events that failed before say nothing of the webhook as long as it takes others.
  const isFailing = before.failures > 0 || results.some(({ due }) => due.attempts === 0)
  if (failed.length < results.length || !isFailing) {
    const { failures: _, failingSince: __, lastFailure: ___, ...healthy } = rested
    const state = { ...healthy, retries, failures: 0, ...(restFor > 0 && { restUntil: now + restFor }) }
    return { ...makeRoom({ state, dead }, now), ...gone }
  }
  const failures = before.failures + 1
  const { failingSince = now } = before
  const [{ sent: last } = { sent: undefined }] = failed.slice(-1)
  const state = {
    ...{ ...rested, retries, failures, failingSince },
    restUntil: now + Math.max(restFor, pause(failures)),
    ...(last && { lastFailure: { reason: last.reason, ...(last.status !== undefined && { status: last.status }) } }),
  }
  return { state, dead, ...(now - failingSince >= LONGEST_FAILING_MS && { disabled: 'failing' as const }), ...gone }
}

/** Milliseconds for which a server wants to be left alone; 0 where it does not say so. */
function throttling({
  status = 0,
  retryAfterMs = THROTTLED.has(status) ? THROTTLED_MS : 0,
}: Sent & { delivered: false }) {
  return Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS)
}

/** Lets a whole batch fail next: by giving up what was sent most, or by resting until one of those that wait is due. */
function makeRoom({ state, dead }: Judgement, now: number): Judgement {
  const waiting = Object.entries(state.retries).sort(([, left], [, right]) => right.attempts - left.attempts)
  const tooMany = waiting.length - (MOST_RETRIES - BATCH)
  if (tooMany <= 0) return { state, dead }
  const given = waiting
    .slice(0, tooMany)
    .filter(([, { attempts }]) => attempts >= LEAST_ATTEMPTS)
    .map(([sequence, { page }]) => ({ sequence: Number(sequence), page }))
  const left = forget(state, given)
  const dueAt = Math.min(...Object.values(left.retries).map((retry) => retry.dueAt))
  const restUntil = given.length < tooMany ? Math.max(dueAt, now, state.restUntil ?? 0) : state.restUntil
  return { state: { ...left, ...(restUntil !== undefined && { restUntil }) }, dead: [...dead, ...given] }
}
