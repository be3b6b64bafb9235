import type { KeysByAge } from '../keys-by-age.ts'
import { logger } from '../logger.ts'
import {
  batchSize,
  type DeliveryState,
  type Due,
  forget,
  isDown,
  isResting,
  judge,
  listDue,
  nextDueAt,
  type Resumption,
  resume,
  roomFor,
  stateOf,
} from './delivery-state.ts'
import type { DeliveryStore } from './delivery-store.ts'
import { WebhookEvent } from './event.ts'
import { type EventLogStore, NEXT_PAGES } from './log-store.ts'
import { listSecrets } from './secret.ts'
import type { Send } from './send.ts'
import type { Sent } from './sent.ts'
import { signatureHeaders } from './signature.ts'
import type { WebhooksStore } from './store.ts'
import type { Wake, WakeDeliveries } from './wake.ts'
import { type DisabledReason, type Webhook, wants } from './webhook.ts'

type Dependencies = {
  readonly webhooks: Pick<WebhooksStore, 'list' | 'disable'>
  readonly eventLog: Pick<EventLogStore, 'listNext' | 'getEvents'>
  readonly deliveries: Pick<DeliveryStore, 'get' | 'take' | 'save' | 'release' | 'giveWay'>
  readonly webhookKeys: KeysByAge
  readonly sendDelivery: Send
  readonly wakeDeliveries: WakeDeliveries
  readonly randomUUID: () => string
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Uniform in [0, 1). */
  readonly random: () => number
}

/** What came of a message: how many events arrived, did not, and are given up. */
export type DeliveryReport = { readonly delivered: number; readonly failed: number; readonly givenUp: number }

/** How long one webhook is sent to before others have their turn; a batch that has begun by then is ended. */
const TURN_MS = 10_000
/** A webhook that takes longer for a batch gives way after each: those that are slow must not be all that functions wait for. */
const SLOW_MS = 1_000
/** Longer than a function runs: a lease that is not let go is of one that was killed. */
const LEASE_MS = 40_000
const LONGEST_DELAY_SECONDS = 900

const NOTHING: DeliveryReport = { delivered: 0, failed: 0, givenUp: 0 }

/** An event on its way to a webhook. */
type Outgoing = { readonly due: Due; readonly event: WebhookEvent }

/**
 * Sends a webhook what its client's log has for it and it was not told yet, ten events at a time side by side, until nothing
 * is left, the webhook rests or its turn is over; what is left then comes with another message. At least once each, and by
 * one function at a time. Throws when the table or a queue cannot be reached: the message is then to come again.
 */
export async function deliverEvents(dependencies: Dependencies, wake: Wake): Promise<DeliveryReport> {
  const { webhooks, deliveries, wakeDeliveries, randomUUID, now } = dependencies
  const { clientId, webhookId } = wake
  if (wake.timerAt !== undefined && wake.timerAt > now()) {
    const { state } = await deliveries.get(wake)
    if (state?.timerAt === wake.timerAt) await holdBack(wakeDeliveries, wake, wake.timerAt - now())
    return NOTHING
  }
  const [registered, seen] = await Promise.all([webhooks.list(clientId), deliveries.get(wake)])
  const webhook = registered.find(({ id }) => id === webhookId)
  if (!webhook || webhook.disabledAt) return NOTHING
  const known = stateOf(webhook, seen.state)
  if (!seen.resumption && isResting(known, now()) && hasTimer(known, wake, now())) return NOTHING

  const lease = { id: randomUUID(), now: now(), until: now() + LEASE_MS }
  const taken = await deliveries.take(wake, lease)
  if (!taken) return NOTHING
  const turn = createTurn(dependencies, webhook, wake, { leaseId: lease.id, endsAt: lease.now + TURN_MS })
  return await turn(stateOf(webhook, taken.state), taken.resumption)
}

/** Sends to a webhook whose lease is ours, from a state on; gives what came of it when the lease is let go. */
function createTurn(
  { webhooks, eventLog, deliveries, webhookKeys, sendDelivery, wakeDeliveries, now, random }: Dependencies,
  webhook: Webhook,
  wake: Wake,
  { leaseId, endsAt }: { readonly leaseId: string; readonly endsAt: number },
) {
  const { clientId, webhookId } = wake
  const key = { clientId, webhookId }
  const isOver = () => now() >= endsAt
  const held = () => ({ id: leaseId, now: now() })
  const log = createLogReader(eventLog, clientId)
  const secrets = listSecrets(webhookKeys, clientId, webhook, now())

  async function sendOne({ due, event }: Outgoing): Promise<{ due: Due; sent: Sent }> {
    const body = JSON.stringify(WebhookEvent.encode(event))
    const headers = signatureHeaders({ id: event.id, now: now(), body }, secrets)
    return { due, sent: await sendDelivery(webhook.url, { headers, body }) }
  }

  /** What is sent next, and the state in which it is on its way. */
  async function take(state: DeliveryState) {
    const most = batchSize(state)
    const due = listDue(state, now()).slice(0, most)
    const again = due.length > 0 ? await eventLog.getEvents(clientId, due) : []
    const found = new Map(again.map((event) => [event.sequence, event]))
    const old = due.flatMap((one) => {
      const event = found.get(one.sequence)
      return event ? [{ due: one, event }] : []
    })
    const kept = forget(
      state,
      due.filter(({ sequence }) => !found.has(sequence)),
    )
    // An event that fails for what it says must not be all that is tried.
    const isProbe = isDown(state)
    const room = Math.min(isProbe ? most : most - old.length, roomFor(kept))
    const { fresh, ...position } = await log.take(kept, room, { webhook, isOver })
    const batch = isProbe ? [...fresh, ...old] : [...old, ...fresh]
    return { batch: batch.slice(0, most), state: { ...kept, ...position } }
  }

  /** The state with the moment at which a message comes for what is due later; it is sent first. */
  async function withTimer(state: DeliveryState): Promise<DeliveryState> {
    const dueAt = nextDueAt(state, now())
    if (dueAt === undefined || hasTimer(state, wake, now(), dueAt)) return state
    await holdBack(wakeDeliveries, { ...key, timerAt: dueAt }, dueAt - now())
    return { ...state, timerAt: dueAt }
  }

  /** Sends a batch: what came of it, the state after it, and whether it took so long that others have their turn. */
  async function sendBatch(batch: readonly Outgoing[], before: DeliveryState) {
    const begun = now()
    const results = await Promise.all(batch.map(sendOne))
    const isSlow = now() - begun > SLOW_MS
    const { state, givenUp, disabled } = judge(before, results, { now: now(), random })
    const delivered = results.filter(({ sent }) => sent.delivered).length
    const failed = results.length - delivered
    const { at: _, ...why } = state.lastFailure ?? {}
    if (failed > 0) {
      const of = results.length
      logger.warn('deliveries failed', { ...key, failed, of, failures: state.untaken, ...why })
    }
    if (givenUp > 0) logger.warn('events given up', { ...key, events: givenUp, ...why })
    return { state, report: { delivered, failed, givenUp }, disabled, isSlow }
  }

  /** Has nothing sent to the webhook any more. */
  async function switchOff(state: DeliveryState, reason: DisabledReason): Promise<void> {
    const { at: _, ...why } = state.lastFailure ?? {}
    const isNew = await webhooks.disable(clientId, webhook, { at: new Date(now()), reason })
    if (isNew) logger.warn('webhook switched off', { ...key, disabledReason: reason, ...why })
    await deliveries.giveWay(key, state, held())
  }

  /** Whether there are events in the log that can be taken from it. */
  const isLogLeft = (state: DeliveryState) => !log.isAtEnd() && roomFor(state) > 0

  return async (from: DeliveryState, asked: Resumption | undefined): Promise<DeliveryReport> => {
    let state = from
    let resumption = asked
    let report = NOTHING
    for (;;) {
      if (resumption) {
        state = resume(state, resumption, now())
        if (!(await deliveries.save(key, state, { ...held(), resumed: true }))) return report
        resumption = undefined
      }
      const isAwake = !isResting(state, now())
      const taken = isAwake ? await take(state) : { batch: [], state }
      state = taken.state
      if (taken.batch.length > 0) {
        const sent = await sendBatch(taken.batch, state)
        state = sent.state
        report = added(report, sent.report)
        if (sent.disabled) {
          await switchOff(state, sent.disabled)
          return report
        }
        const isMore = !isResting(state, now()) && (isLogLeft(state) || listDue(state, now()).length > 0)
        if (isMore && (isOver() || sent.isSlow)) return await giveWay(state, report)
        if (isMore && !(await deliveries.save(key, state, held()))) return report
        if (isMore) continue
      } else if (isAwake && isLogLeft(state)) {
        return await giveWay(state, report)
      }
      state = await withTimer(state)
      if (await deliveries.release(key, state, { ...held(), isResting: isResting(state, now()) })) return report
      // There is something new, unless the lease is another's.
      const kept = await deliveries.save(key, state, { ...held(), looksAgain: true })
      if (!kept) return report
      resumption = kept.resumption
      log.lookAgain()
    }
  }

  /** Lets others have their turn. Killed between, this message comes again. */
  async function giveWay(state: DeliveryState, report: DeliveryReport): Promise<DeliveryReport> {
    await deliveries.giveWay(key, state, held())
    await wakeDeliveries([key])
    return report
  }
}

function added(one: DeliveryReport, other: DeliveryReport): DeliveryReport {
  return {
    delivered: one.delivered + other.delivered,
    failed: one.failed + other.failed,
    givenUp: one.givenUp + other.givenUp,
  }
}

/** Sends a message that is to come after so long, or as late as can be. */
function holdBack(wakeDeliveries: WakeDeliveries, wake: Wake, ms: number): Promise<void> {
  return wakeDeliveries([wake], { delaySeconds: Math.min(LONGEST_DELAY_SECONDS, Math.ceil(ms / 1000)) })
}

/** Reads a client's log ahead, some pages at a time. */
function createLogReader(eventLog: Pick<EventLogStore, 'listNext'>, clientId: string) {
  let ahead: { readonly event: WebhookEvent; readonly page: number; readonly isLast: boolean }[] = []
  let isEnd = false

  return {
    isAtEnd: () => isEnd && ahead.length === 0,
    /** Looks for what was added since, at the next call. */
    lookAgain() {
      isEnd = false
    },
    /** The next events that a webhook wants, and the state's place in the log after them. */
    async take(
      { next, page }: Pick<DeliveryState, 'next' | 'page'>,
      most: number,
      { webhook, isOver }: { readonly webhook: Webhook; readonly isOver: () => boolean },
    ): Promise<Pick<DeliveryState, 'next' | 'page'> & { fresh: Outgoing[] }> {
      const fresh: Outgoing[] = []
      let place = { next, page }
      while (fresh.length < most) {
        const one = ahead.shift()
        if (!one) {
          if (isEnd || isOver()) break
          const pages = await eventLog.listNext(clientId, place.page)
          isEnd = pages.length < NEXT_PAGES
          ahead = pages
            .flatMap((events) =>
              events.map((event, index) => ({
                event,
                page: events[0]?.sequence ?? event.sequence,
                isLast: index === events.length - 1,
              })),
            )
            .filter(({ event }) => event.sequence >= place.next)
          continue
        }
        const { event, isLast } = one
        const after = event.sequence + 1
        place = { next: after, page: isLast ? after : one.page }
        if (wants(webhook, event)) {
          fresh.push({ due: { sequence: event.sequence, page: one.page, attempts: 0 }, event })
        }
      }
      return { fresh, ...place }
    },
  }
}

/** Whether a message is on its way that comes by a moment; the one that has come is not. */
function hasTimer({ timerAt = 0 }: DeliveryState, wake: Wake, now: number, by = Number.POSITIVE_INFINITY): boolean {
  return timerAt > now + SLACK_MS && timerAt !== wake.timerAt && timerAt <= by + SLACK_MS
}

/** So much later than what is due a message may come, and so much do the clocks of two functions differ at most. */
const SLACK_MS = 1_000
