import * as z from 'zod'
import { Timestamp } from '../core/codecs.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.ts'
import type { EventLogKey } from './log-store.ts'
import { SendFailure, type SendResult } from './sent.ts'
import type { DisabledReason } from './webhook.ts'

const Millis = z.number().int()

/** An event that will be sent again: its page in the log, the number of past attempts, and the time of the next attempt. */
const Waiting = z.object({ page: z.number().int(), attempts: z.number().int(), dueAt: Millis })

/** An event that the service no longer tries to send. */
const AbandonedEvent = z.object({ sequence: z.number().int(), page: z.number().int(), at: Millis })
export type GivenUpDelivery = z.output<typeof AbandonedEvent>

/** State of the deliveries to a webhook. Times are in epoch milliseconds. */
export const Attempts = z.object({
  /** Registration time of the webhook. A URL that is registered again starts with new attempts. */
  createdAt: Timestamp,
  /**
   * Number of consecutive failed deliveries that suggest the server is down. A success resets it to 0, and so does the
   * refusal of an event by a working server.
   */
  downs: z.number().int(),
  /** Lowest sequence number of the events in the deliveries that `downs` counts. */
  downFrom: z.number().int().optional(),
  /** Number of events that failed at their first attempt since the last successful delivery. */
  untaken: z.number().int(),
  /** Time of the first failure since the last successful delivery. */
  failingSince: Millis.optional(),
  lastFailure: z.object({ at: Millis, reason: SendFailure, status: z.number().int().optional() }).optional(),
  /** Events that will be sent again, each with a message in the queue, by sequence number. */
  waiting: z.record(z.string(), Waiting),
  /** Newest events that were given up, at most `MAX_GIVEN_UP`. */
  givenUp: z.array(AbandonedEvent),
  /** Number of older given up events, for which `givenUp` has no room. */
  givenUpBefore: z.number().int(),
})
export type Attempts = z.output<typeof Attempts>

/** An event that was sent to a webhook, with the outcome. */
export type DeliveryAttempt = EventLogKey & { readonly sent: SendResult }

/** Consequences of one or more delivery attempts. */
export type AttemptsOutcome = {
  readonly attempts: Attempts
  /** Milliseconds until the next attempt of each event that will be sent again, by sequence number. */
  readonly pauses: ReadonlyMap<number, number>
  readonly givenUp: number
  /**
   * Present if the webhook stops getting new events. `from` is the lowest sequence number of an event that failed.
   * `probeAt` is the time of the next retry.
   */
  readonly behind?: { readonly from: number; readonly probeAt: number }
  readonly disabled?: DisabledReason
}

/** Milliseconds between the attempts of one event: after the first failure, the second and so on. The sum is three days. */
const PAUSES_MS = [5_000, 5 * MINUTE_MS, HOUR_MS, ...Array.from({ length: 6 }, () => 12 * HOUR_MS)]
/**
 * Bounds of the random fraction by which a pause is shortened. SQS hides a message for at most 12 hours after its
 * receipt, and failed events should not all return together.
 */
const [MIN_JITTER, MAX_JITTER] = [0.02, 0.1]
const MAX_ATTEMPTS = PAUSES_MS.length + 1
const PROBE_MS = 5 * MINUTE_MS
/** Number of consecutive failures after which the server counts as down, so that events stay in the log. */
const MAX_DOWNS = 2
/**
 * Milliseconds without an accepted event after which a webhook is disabled. If the webhook's server is up, it must also
 * have refused at least `MIN_UNTAKEN` events.
 */
const MAX_FAILING_MS = 3 * DAY_MS
const MIN_UNTAKEN = 2

/** Client errors (4xx) that concern the server's state and not the event. */
const OF_SERVER: ReadonlySet<number> = new Set([408, 425, 429])
/** Statuses of a busy server. After such a status, events stay in the log until a retry succeeds. */
const THROTTLED: ReadonlySet<number> = new Set([429, 502, 504])
/** Bounds, in milliseconds, of the pause that a busy server requests in `Retry-After`. */
const [MIN_RETRY_AFTER_MS, MAX_RETRY_AFTER_MS] = [MINUTE_MS, DAY_MS]
const GONE = 410

/** Milliseconds after which a waiting event is given up, because SQS does not keep its message longer. */
const QUEUED_MS = 14 * DAY_MS
/** Maximum number of a webhook's failed events in the queue; further ones are given up. SQS allows 120,000 received messages in a queue. */
const MAX_WAITING = 100
/** Maximum number of a webhook's given up events that are stored and listed. Older ones are only counted. */
const MAX_GIVEN_UP = 100
/** Milliseconds after which a given up event is no longer listed. By then the log has deleted the event. */
const GIVEN_UP_MS = 30 * DAY_MS

function createAttempts(createdAt: Date): Attempts {
  return { createdAt, downs: 0, untaken: 0, waiting: {}, givenUp: [], givenUpBefore: 0 }
}

/**
 * Returns a webhook's stored delivery attempts. Returns an empty record if the stored attempts belong to an earlier
 * registration of the URL.
 */
export function selectAttempts({ createdAt }: { readonly createdAt: Date }, stored: Attempts | undefined): Attempts {
  return stored?.createdAt.getTime() === createdAt.getTime() ? stored : createAttempts(createdAt)
}

/** Lists the given up events that the log still has, newest first. */
export function listGivenUpEvents({ givenUp }: Pick<Attempts, 'givenUp'>, now: number): GivenUpDelivery[] {
  return givenUp.filter(({ at }) => at > now - GIVEN_UP_MS)
}

/** Lists the events that will be sent again, and the given up events that the log still has. */
export function listUndeliveredEvents({ waiting, ...attempts }: Attempts, now: number): EventLogKey[] {
  const waits = Object.entries(waiting).map(([sequence, { page }]) => ({ sequence: Number(sequence), page }))
  return [...waits, ...listGivenUpEvents(attempts, now).map(({ sequence, page }) => ({ sequence, page }))]
}

/** Resets a webhook's delivery attempts. The undelivered events (`untaken`) are then due at `now`, as if never sent. */
export function resetAttempts(
  { createdAt, lastFailure }: Attempts,
  untaken: readonly EventLogKey[],
  now: number,
): Attempts {
  const waiting = Object.fromEntries(untaken.map(({ sequence, page }) => [sequence, { page, attempts: 0, dueAt: now }]))
  return { ...createAttempts(createdAt), waiting, ...(lastFailure && { lastFailure }) }
}

/** Returns the time since which every delivery has failed, in epoch milliseconds; undefined if there are too few failures to say so. */
export function computeFailingSince({ untaken, downs, failingSince }: Attempts): number | undefined {
  return untaken >= MIN_UNTAKEN || downs >= MAX_DOWNS ? failingSince : undefined
}

/** Returns the time of the next attempt of any waiting event, in epoch milliseconds; undefined if none waits. */
export function computeNextDueAt({ waiting }: Attempts, now: number): number | undefined {
  const due = Object.values(waiting).map(({ dueAt }) => Math.max(now, dueAt))
  return due.length > 0 ? Math.min(...due) : undefined
}

/** Returns the pause after this number of attempts in milliseconds, rounded up to whole seconds. `random` returns a number in [0, 1). */
export function computePauseMs(attempt: number, random: () => number): number {
  const pause = PAUSES_MS[Math.min(attempt, PAUSES_MS.length) - 1] ?? 0
  const jitter = MIN_JITTER + (MAX_JITTER - MIN_JITTER) * random()
  return Math.ceil((pause * (1 - jitter)) / 1000) * 1000
}

/**
 * Time of the attempts in epoch milliseconds, and a source of random numbers in [0, 1). `isBehind` is true if the
 * attempts were a retry from the log.
 */
type AttemptContext = { readonly now: number; readonly random: () => number; readonly isBehind: boolean }

/**
 * Decides the consequences of one or more parallel attempts. An event that the server refuses keeps a message in the
 * queue and is sent again later. If the server is down or requests a pause, the webhook is behind. Undelivered events
 * then stay in the log until a retry sends them.
 */
export function settleAttempts(
  before: Attempts,
  made: readonly DeliveryAttempt[],
  at: AttemptContext,
): AttemptsOutcome {
  const { now } = at
  const failed = made.filter(({ sent }) => !sent.delivered)
  const { behind, ...server } = settleServer(before, made, at)
  const { waiting, pauses, tired } = settleEvents(before, made, behind?.from, at)
  const givenUp = [...tired, ...listGivenUpEvents(before, now)]

  const isTaken = failed.length < made.length
  const isWaiting = behind !== undefined || Object.keys(waiting).length > 0
  const since = isTaken || !isWaiting ? undefined : (before.failingSince ?? now)
  const fresh = failed.filter(({ sequence }) => attemptsMade(before, sequence) === 0).length
  const untaken = since === undefined ? 0 : before.untaken + fresh
  const last = failed.at(-1)?.sent
  const lastFailure = last ? failureOf(last, now) : before.lastFailure
  const isGone = failed.some(({ sent: { status } }) => status === GONE)
  const isOver =
    since !== undefined && now - since >= MAX_FAILING_MS && (behind !== undefined || untaken >= MIN_UNTAKEN)
  const disabled = isGone ? 'gone' : isOver ? 'failing' : undefined
  return {
    attempts: {
      ...{ createdAt: before.createdAt, ...server, untaken, waiting },
      ...(since !== undefined && { failingSince: since }),
      ...(lastFailure && { lastFailure }),
      givenUp: givenUp.slice(0, MAX_GIVEN_UP),
      givenUpBefore: before.givenUpBefore + Math.max(0, givenUp.length - MAX_GIVEN_UP),
    },
    ...{ pauses, givenUp: tired.length, ...(behind && { behind }), ...(disabled && { disabled }) },
  }
}

function settleServer(before: Attempts, made: readonly DeliveryAttempt[], { now, isBehind }: AttemptContext) {
  const down = made.filter(({ sent }) => !sent.delivered && !isRefusal(sent))
  if (down.length === 0) return { downs: 0 }
  const isUp = down.length < made.length
  const downs = isUp ? 0 : before.downs + down.length
  const earlier = isUp ? undefined : before.downFrom
  const from = Math.min(...down.map(({ sequence }) => sequence), earlier ?? Number.POSITIVE_INFINITY)
  const isFull = Object.keys(before.waiting).length >= MAX_WAITING
  const isDown = (isBehind && !isUp) || isFull || downs >= MAX_DOWNS || down.some(({ sent }) => isThrottled(sent))
  const probeAt = now + Math.max(...down.map(({ sent }) => probePause(sent)))
  return { downs, ...(!isUp && { downFrom: from }), ...(isDown && { behind: { from, probeAt } }) }
}

/**
 * Returns the events that will be sent again, the pauses before their next attempts, and the events given up. Events
 * from sequence number `from` on stay in the log.
 */
function settleEvents(
  before: Attempts,
  made: readonly DeliveryAttempt[],
  from: number | undefined,
  { now, random }: AttemptContext,
) {
  const isLeft = (sequence: number) => from !== undefined && sequence >= from
  const waiting: Attempts['waiting'] = {}
  const pauses = new Map<number, number>()
  const tired: GivenUpDelivery[] = []
  for (const [sequence, { page, ...one }] of Object.entries(before.waiting)) {
    if (isLeft(Number(sequence)) || made.some((other) => sequence === String(other.sequence))) continue
    if (one.dueAt > now - QUEUED_MS) waiting[sequence] = { page, ...one }
    else tired.push({ sequence: Number(sequence), page, at: now })
  }
  for (const { sequence, page, sent } of made) {
    if (sent.delivered || (isLeft(sequence) && !isRefusal(sent))) continue
    const attempts = attemptsMade(before, sequence) + 1
    const hasRoom = sequence in before.waiting || Object.keys(waiting).length < MAX_WAITING
    if (attempts < MAX_ATTEMPTS && hasRoom) {
      const pause = computePauseMs(attempts, random)
      pauses.set(sequence, pause)
      waiting[sequence] = { page, attempts, dueAt: now + pause }
    } else tired.unshift({ sequence, page, at: now })
  }
  return { waiting, pauses, tired }
}

function attemptsMade({ waiting }: Attempts, sequence: number): number {
  return waiting[sequence]?.attempts ?? 0
}

function failureOf(sent: SendResult, at: number): Attempts['lastFailure'] {
  if (sent.delivered) return undefined
  const { reason, status } = sent
  return { at, reason, ...(status !== undefined && { status }) }
}

/** True if the response shows that the server works but refuses this event. */
function isRefusal(sent: SendResult): boolean {
  const { status = 0 } = sent
  return status >= 400 && status < 500 && status !== GONE && !OF_SERVER.has(status) && !isThrottled(sent)
}

function probePause(sent: SendResult): number {
  if (sent.delivered || !isThrottled(sent)) return PROBE_MS
  return Math.max(MIN_RETRY_AFTER_MS, Math.min(sent.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS))
}

function isThrottled(sent: SendResult): boolean {
  return !sent.delivered && ((sent.retryAfterMs ?? 0) > 0 || THROTTLED.has(sent.status ?? 0))
}
