import type { ReceivedMessage } from '../aws/queue.ts'
import type { KeysByAge } from '../core/keys-by-age.ts'
import { logger } from '../core/logger.ts'
import {
  type AttemptsOutcome,
  computePauseMs,
  type DeliveryAttempt,
  selectAttempts,
  settleAttempts,
} from './attempts.ts'
import type { AttemptsStore } from './attempts-store.ts'
import { WebhookEvent } from './event.ts'
import type { EventLogStore, LoggedEvent } from './log-store.ts'
import {
  buildEventMessages,
  type DeliveryMessage,
  type Enqueue,
  type EventMessage,
  type Postpone,
  type ProbeMessage,
} from './queue.ts'
import { listWebhookSecrets } from './secret.ts'
import type { Send } from './send.ts'
import { buildSignatureHeaders } from './signature.ts'
import type { WebhooksStore } from './store.ts'
import {
  type BehindState,
  type DisabledReason,
  isLiveWebhook,
  isSubscribedTo,
  type Webhook,
  type WebhookKey,
} from './webhook.ts'

type Services = {
  readonly webhooks: Pick<WebhooksStore, 'get' | 'listOf' | 'replace' | 'change'>
  readonly eventLog: Pick<EventLogStore, 'list' | 'getEvents'>
  readonly attempts: Pick<AttemptsStore, 'list' | 'put'>
  readonly webhookKeys: KeysByAge
  readonly sendDelivery: Send
  readonly enqueue: Enqueue
  readonly postpone: Postpone
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
  /** Returns a random number in [0, 1). */
  readonly random: () => number
}

/** Numbers of events that were delivered, failed or given up. */
export type DeliveryReport = { readonly delivered: number; readonly failed: number; readonly givenUp: number }

/** Maximum events sent in parallel to one webhook. A retry of a failing webhook starts with one event. */
const BATCH = 10
/** Number of events per read of the log while a webhook that was behind is sent its missed events. */
const READ = 100
/**
 * Maximum milliseconds for which one message sends a webhook's missed events. Another message then continues, so that
 * other webhooks are served in between.
 */
const MAX_PROBE_MS = 10_000
/**
 * Milliseconds for which one function run claims the retry of a webhook. No function runs longer, so an older claim
 * comes from a killed run.
 */
const CLAIM_MS = 40_000
const TRIES = 10
/** Delay, in seconds, of the message that continues a retry, so that the sending run can finish its writes first. */
const NEXT_SECONDS = 1
const MAX_DELAY_SECONDS = 900
const MAX_HIDDEN_SECONDS = 43_000

/**
 * Handles messages of the delivery queue. Sends every event at least once to each webhook that wants it. Returns the
 * report, and the messages that SQS must deliver again, including those of webhooks whose handling failed. Throws if
 * the webhooks cannot be read.
 */
export async function deliverMessages(
  services: Services,
  received: readonly ReceivedMessage<DeliveryMessage>[],
): Promise<{
  readonly reports: readonly DeliveryReport[]
  readonly again: readonly ReceivedMessage<DeliveryMessage>[]
}> {
  const registered = await services.webhooks.listOf([...new Set(received.map(({ message }) => message.clientId))])
  const total = { delivered: 0, failed: 0, givenUp: 0 }
  const again: ReceivedMessage<DeliveryMessage>[] = []
  const keys = new Map(received.map(({ message: { clientId, webhookId } }) => [webhookId, { clientId, webhookId }]))
  await Promise.all(
    [...keys.values()].map(async (key) => {
      const webhook = registered.get(key.clientId)?.find(({ id }) => id === key.webhookId)
      if (!webhook) return
      const of = createWebhookHandlers(services, key, total)
      const group = received.filter(({ message }) => message.webhookId === key.webhookId)
      const events = group.filter((one): one is ReceivedMessage<EventMessage> => 'sequence' in one.message)
      const probes = group.filter((one): one is ReceivedMessage<ProbeMessage> => 'probeAt' in one.message)
      try {
        again.push(...(await of.sendEvents(webhook, events)))
        for (const probe of probes) if (await of.probe(probe)) again.push(probe)
      } catch (error) {
        for (const { messageId, receives } of group) logger.error('message failed', { messageId, receives, error })
        again.push(...group)
      }
    }),
  )
  return { reports: [total], again: [...new Set(again)] }
}

/** Builds the handlers for the messages of one webhook. The handlers add the numbers of events to `total`. */
function createWebhookHandlers(
  services: Services,
  key: WebhookKey,
  total: { -readonly [Name in keyof DeliveryReport]: number },
) {
  const { webhooks, eventLog, attempts, webhookKeys, sendDelivery, enqueue, postpone, now, random } = services
  const { clientId } = key

  async function send(webhook: Webhook, events: readonly LoggedEvent[]): Promise<DeliveryAttempt[]> {
    const secrets = listWebhookSecrets(webhookKeys, clientId, webhook, now())
    return await Promise.all(
      events.map(async ({ event, sequence, page }) => {
        const body = JSON.stringify(WebhookEvent.encode(event))
        const headers = buildSignatureHeaders({ id: event.id, now: now(), body }, secrets)
        return { sequence, page, sent: await sendDelivery(webhook.url, { headers, body }) }
      }),
    )
  }

  /** Stores delivery attempts and returns their consequences. Writes nothing if the stored attempts stay the same. */
  async function record(
    webhook: Webhook,
    made: readonly DeliveryAttempt[],
    isBehind: boolean,
  ): Promise<AttemptsOutcome> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const [stored] = await attempts.list([key])
      const before = selectAttempts(webhook, stored?.attempts)
      const judgement = settleAttempts(before, made, { now: now(), random, isBehind })
      const isClean = JSON.stringify(judgement.attempts) === JSON.stringify(before)
      if (isClean || (await attempts.put(key, stored, judgement.attempts, now()))) {
        report(made, judgement)
        return judgement
      }
    }
    throw new Error('Other runs keep writing the attempts of a webhook.')
  }

  function report(
    made: readonly DeliveryAttempt[],
    { attempts: { downs, lastFailure }, givenUp }: AttemptsOutcome,
  ): void {
    const sequences = made.flatMap(({ sequence, sent }) => (sent.delivered ? [] : sequence))
    const failed = sequences.length
    const { at: _, ...why } = lastFailure ?? {}
    if (failed > 0) {
      logger.warn('deliveries failed', { ...key, failed, of: made.length, failures: downs, sequences, ...why })
    }
    if (givenUp > 0) logger.warn('events given up', { ...key, events: givenUp, ...why })
    total.delivered += made.length - failed
    total.failed += failed
    total.givenUp += givenUp
  }

  const change = (webhook: Webhook, to: (webhook: Webhook) => Webhook) => webhooks.change(key, to, webhook)

  /**
   * Disables a webhook, or marks it as behind. Events from the sequence number `from` on then stay in the log until a
   * retry sends them.
   */
  async function fallBehind(webhook: Webhook, { behind, disabled }: AttemptsOutcome, from: number): Promise<void> {
    const probeAt = behind?.probeAt ?? now()
    // The retry is queued before the webhook is marked as behind. If this run is killed in between, SQS delivers the event's message
    // again.
    if (!disabled) await enqueueProbe(probeAt)
    await change(webhook, (current) => ({
      ...current,
      ...disabledBy(disabled),
      behind: { from: Math.min(from, current.behind?.from ?? from), probeAt, isLive: false },
    }))
  }

  function disabledBy(reason: DisabledReason | undefined): Pick<Webhook, 'disabledAt' | 'disabledReason'> {
    if (!reason) return {}
    logger.warn('webhook switched off', { ...key, disabledReason: reason })
    return { disabledAt: new Date(now()), disabledReason: reason }
  }

  function enqueueProbe(probeAt: number): Promise<void> {
    const delaySeconds = Math.min(MAX_DELAY_SECONDS, Math.max(NEXT_SECONDS, Math.ceil((probeAt - now()) / 1000)))
    return enqueue([{ ...key, probeAt }], { delaySeconds })
  }

  async function postponeMessage({ receipt }: ReceivedMessage<DeliveryMessage>, milliseconds: number): Promise<void> {
    // A failure to hide the message is only logged, because SQS then just delivers the message earlier.
    const seconds = Math.min(MAX_HIDDEN_SECONDS, Math.max(0, Math.ceil(milliseconds / 1000)))
    await postpone(receipt, seconds).catch((error: unknown) => logger.warn('message not postponed', { ...key, error }))
  }

  return {
    /** Sends the events of these messages; returns the messages that SQS must deliver again. */
    async sendEvents(
      webhook: Webhook,
      received: readonly ReceivedMessage<EventMessage>[],
    ): Promise<readonly ReceivedMessage<EventMessage>[]> {
      if (received.length === 0) return []
      if (!isLiveWebhook(webhook)) return await leaveToLog(webhook, received)
      const logged = await eventLog.getEvents(
        clientId,
        received.map(({ message }) => message),
      )
      const bySequence = new Map(received.map((one) => [one.message.sequence, one]))
      const events = logged.flatMap((event) => {
        const one = bySequence.get(event.sequence)
        return one && isSubscribedTo(webhook, event) ? [{ ...one.message, event }] : []
      })
      if (events.length === 0) return []
      const made = await send(webhook, events)
      const judgement = await record(webhook, made, false)
      const { behind, disabled, pauses } = judgement
      if (behind || disabled) {
        await fallBehind(webhook, judgement, behind?.from ?? Math.max(...made.map(({ sequence }) => sequence)) + 1)
      }
      const waiting = received.filter(({ message }) => pauses.has(message.sequence))
      await Promise.all(waiting.map((one) => postponeMessage(one, pauses.get(one.message.sequence) ?? 0)))
      return waiting
    },

    /**
     * Sends the events that a webhook missed while it was behind, from the log. Stops at the log's end, at a failure of
     * the server, or after `MAX_PROBE_MS`. Returns true if SQS must deliver the message again.
     */
    async probe(received: ReceivedMessage<ProbeMessage>): Promise<boolean> {
      const { probeAt } = received.message
      const webhook = await webhooks.get(key)
      if (!webhook?.behind || webhook.disabledAt || probeAt < webhook.behind.probeAt) return false
      const dueAt = Math.max(probeAt, webhook.behind.claimedUntil ?? 0)
      if (dueAt > now()) {
        await postponeMessage(received, dueAt - now())
        return true
      }
      const claim = { ...webhook.behind, probeAt, claimedUntil: now() + CLAIM_MS }
      const claimed = await webhooks.replace(clientId, webhook, { ...webhook, behind: claim })
      if (!claimed?.behind) {
        await postponeMessage(received, NEXT_SECONDS * 1000)
        return true
      }
      await catchUp(claimed, claimed.behind)
      return false
    },
  }

  /**
   * Handles the SQS messages of events for a webhook that is behind or disabled. Sends no events. Drops the messages,
   * because the webhook gets these events later from the log. Messages of events whose delivery already failed once are
   * only delayed, unless the webhook is disabled. Returns the messages that SQS must deliver again.
   */
  async function leaveToLog(
    webhook: Webhook,
    received: readonly ReceivedMessage<EventMessage>[],
  ): Promise<readonly ReceivedMessage<EventMessage>[]> {
    const [stored] = await attempts.list([key])
    const { waiting: known } = selectAttempts(webhook, stored?.attempts)
    const { waiting = [], others = [] } = Object.groupBy(received, ({ message }) =>
      message.sequence in known ? 'waiting' : 'others',
    )
    const from = webhook.behind?.from ?? Number.POSITIVE_INFINITY
    const before = others.filter(({ message }) => message.sequence < from)
    if (before.length > 0) {
      // The events in `before` precede the start of the next retry, and possibly no run has sent them. The retry must
      // therefore start at the first of them.
      const lowest = Math.min(...before.map(({ message }) => message.sequence))
      const changed = await change(webhook, (current) => {
        if (isLiveWebhook(current) || (current.behind && current.behind.from <= lowest)) return current
        return { ...current, behind: { probeAt: now(), isLive: false, ...current.behind, from: lowest } }
      })
      if (changed && isLiveWebhook(changed)) return received
    }
    // Once a disabled webhook is enabled, it gets all undelivered events. Their messages are therefore dropped now.
    if (webhook.disabledAt) return []
    await Promise.all(waiting.map((one) => postponeMessage(one, computePauseMs(one.receives, random))))
    return waiting
  }

  /**
   * Sends a webhook its missed events from the log, after `probe` has claimed the webhook. At the log's end, the
   * webhook is set to get new events from the queue again. Then the events that were logged just before that are
   * queued.
   */
  async function catchUp(claimed: Webhook, claim: BehindState): Promise<void> {
    const endsAt = now() + MAX_PROBE_MS
    let [webhook, place] = [claimed, claim]
    let size = 1
    for (;;) {
      const listed = await eventLog.list(clientId, { after: place.from - 1, limit: READ, now: now() })
      const rest = listed.filter(({ event }) => isSubscribedTo(webhook, event))
      const end = (listed.at(-1)?.sequence ?? place.from - 1) + 1
      if (place.isLive) {
        if (listed.length === 0) return await endPlace(webhook)
        await enqueue(buildEventMessages(key, rest))
        place = { ...place, from: end }
        continue
      }
      let stop: AttemptsOutcome | undefined
      while (rest.length > 0 && !stop && now() < endsAt) {
        const batch = rest.splice(0, size)
        const made = await send(webhook, batch)
        const judgement = await record(webhook, made, true)
        await enqueueWaiting(made, judgement)
        if (judgement.behind || judgement.disabled) stop = judgement
        size = BATCH
      }
      const from = stop?.behind?.from ?? rest[0]?.sequence ?? end
      if (stop?.disabled) {
        await moveOn(webhook, { from, probeAt: now(), isLive: false }, stop.disabled)
        return
      }
      if (stop || (now() >= endsAt && listed.length > 0)) {
        const probeAt = stop?.behind?.probeAt ?? now()
        await enqueueProbe(probeAt)
        await moveOn(webhook, { from, probeAt, isLive: false })
        return
      }
      const moved = await moveOn(webhook, { ...place, from, isLive: listed.length === 0 })
      if (!moved?.behind) return
      ;[webhook, place] = [moved, moved.behind]
    }
  }

  async function enqueueWaiting(made: readonly DeliveryAttempt[], { pauses }: AttemptsOutcome): Promise<void> {
    const waiting = made.filter(({ sequence }) => pauses.has(sequence))
    const seconds = Math.ceil(Math.max(0, ...pauses.values()) / 1000)
    if (waiting.length > 0)
      await enqueue(buildEventMessages(key, waiting), { delaySeconds: Math.min(MAX_DELAY_SECONDS, seconds) })
  }

  /** Marks a webhook as no longer behind, because all its missed events are sent or queued. */
  async function endPlace(webhook: Webhook): Promise<void> {
    await change(webhook, (current) => {
      if (!hasSameClaim(webhook, current)) return current
      const { behind: _, ...live } = current
      return live
    })
  }

  /** Records how far a retry has sent the log's events. Returns undefined if another run has claimed the webhook meanwhile. */
  async function moveOn(
    webhook: Webhook,
    behind: BehindState,
    disabled?: DisabledReason,
  ): Promise<Webhook | undefined> {
    let isOurs = false
    const moved = await change(webhook, (current) => {
      isOurs = hasSameClaim(webhook, current)
      if (!isOurs || !current.behind) return current
      // Another run may have found an earlier event that was never sent. The retry then continues at that event
      // (`from`).
      const isLowered = current.behind.from !== webhook.behind?.from
      const place = isLowered ? { ...behind, from: current.behind.from, isLive: false } : behind
      return { ...current, ...disabledBy(disabled), behind: place }
    })
    return isOurs ? moved : undefined
  }
}

function hasSameClaim(read: Webhook, current: Webhook): boolean {
  return current.behind?.claimedUntil === read.behind?.claimedUntil
}
