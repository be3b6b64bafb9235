import { createTable } from '../../lib/aws/table.ts'
import { createTransactingTable } from '../../lib/aws/transactions.ts'
import { publishNotices } from '../../lib/webhooks/append.ts'
import { selectAttempts } from '../../lib/webhooks/attempts.ts'
import { attemptsStore } from '../../lib/webhooks/attempts-store.ts'
import { deliverMessages } from '../../lib/webhooks/deliver.ts'
import type { Notice } from '../../lib/webhooks/event.ts'
import { buildWebhookId } from '../../lib/webhooks/ids.ts'
import { appendingLogStore } from '../../lib/webhooks/log-store.ts'
import type { DeliveryMessage, Enqueue } from '../../lib/webhooks/queue.ts'
import { resumeWebhook } from '../../lib/webhooks/resume.ts'
import type { SendResult } from '../../lib/webhooks/sent.ts'
import { webhooksStore } from '../../lib/webhooks/store.ts'
import type { Webhook } from '../../lib/webhooks/webhook.ts'
import type { Connection } from './memory-dynamo.ts'
import { TEST_TABLES } from './tables.ts'
import { createGatedDynamo, type Gate, PASSING_GATE, someWebhook, someWebhookEvent } from './webhooks.ts'

/** Time at which the simulated delivery clock starts, in milliseconds since 1970. */
export const CLOCK_START = Date.parse('2026-11-02T00:00:00.000Z')
/** Key from which the service derives the signing secret of each webhook. */
export const SECRET_DERIVATION_KEY = 'k'.repeat(64)
/** Result of a webhook delivery: the receiver accepts with status 200. */
export const DELIVERED: SendResult = { delivered: true, status: 200 }
export const FAILED_WITH_500: SendResult = { delivered: false, reason: 'status', status: 500 }
export const FAILED_WITH_404: SendResult = { delivered: false, reason: 'status', status: 404 }

const VISIBILITY_MS = 180_000
const BATCH = 10

/** Webhook delivery as its receiver got it. `at` is in milliseconds since 1970. */
export type ReceivedDelivery = {
  readonly webhookId: string
  readonly sequence: number
  readonly id: string
  readonly at: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

type Queued = { readonly id: number; readonly message: DeliveryMessage; at: number; receives: number }

/**
 * Options of the simulated deliveries. `choose` returns a random integer below its argument. The queue then delivers
 * messages in random order, and some of them twice.
 */
type Options = { readonly choose?: (below: number) => number; readonly clientId?: string }

/** Simulates the webhook deliveries of one API client, with a table, queue, receivers and clock of its own. */
export function createDeliveries({ dynamo }: Connection, { choose, clientId: CLIENT = 'clientAAAA' }: Options = {}) {
  const open = (gate: Gate = PASSING_GATE) => createTable(createGatedDynamo(dynamo, gate), TEST_TABLES.webhooks)
  let time = CLOCK_START
  let ids = 0
  let queue: Queued[] = []
  const webhooks = webhooksStore(open())
  const attempts = attemptsStore(open())
  const log = appendingLogStore(createTransactingTable(dynamo, TEST_TABLES.webhooks))
  const enqueueAt =
    (gate: Gate): Enqueue =>
    (messages, { delaySeconds = 0 } = {}) =>
      gate(async () => {
        if (delaySeconds > 900 || !Number.isInteger(delaySeconds))
          throw new Error('SQS delays by whole seconds, up to 900.')
        for (const message of messages) {
          const isTwice = choose !== undefined && choose(10) === 0
          for (let copies = isTwice ? 2 : 1; copies > 0; copies -= 1) {
            ids += 1
            queue.push({ id: ids, message, at: time + delaySeconds * 1000, receives: 0 })
          }
        }
      })
  const world = {
    ...{ webhooks, log },
    received: [] as ReceivedDelivery[],
    queue: () => queue,
    enqueue: enqueueAt(PASSING_GATE),
    keyOf: ({ id }: Pick<Webhook, 'id'>) => ({ clientId: CLIENT, webhookId: id }),
    clock: () => time,
    pass: (ms: number) => {
      time += ms
    },
    respond: (_: ReceivedDelivery): SendResult | Promise<SendResult> => DELIVERED,
    async register(overrides: Partial<Webhook> = {}): Promise<Webhook> {
      const webhook = someWebhook(CLIENT, overrides)
      if (!(await webhooks.add(CLIENT, webhook))) throw new Error('Not registered.')
      return webhook
    },
    webhook: async (id?: string) => (await webhooks.list(CLIENT)).find((one) => id === undefined || one.id === id),
    async attempts(webhook: Webhook) {
      const [stored] = await attempts.list([{ clientId: CLIENT, webhookId: webhook.id }])
      return selectAttempts(webhook, stored?.attempts)
    },
    async publish(notices: number | readonly Notice[], gate = PASSING_GATE): Promise<void> {
      const from = typeof notices === 'number' ? ((await log.getHeads([CLIENT])).get(CLIENT)?.next ?? 1) : 0
      const all =
        typeof notices === 'number'
          ? Array.from({ length: notices }, (_, index) => someWebhookEvent(`key-${from + index}`))
          : notices
      await publishNotices(
        {
          eventLog: appendingLogStore(createTransactingTable(createGatedDynamo(dynamo, gate), TEST_TABLES.webhooks)),
          ...{ webhooks: webhooksStore(open(gate)), enqueue: enqueueAt(gate), now: () => time, random: () => 0 },
        },
        all,
        () => [CLIENT],
      )
    },
    resume: (webhook: Webhook, isAnew: boolean, gate = PASSING_GATE) =>
      resumeWebhook(
        {
          ...{ webhooks: webhooksStore(open(gate)), attempts: attemptsStore(open(gate)) },
          ...{ enqueue: enqueueAt(gate), now: () => time },
        },
        { clientId: CLIENT, webhookId: webhook.id },
        { isAnew },
      ),
    /** Passes a batch of due messages to the delivery function. `gate` can abort the function at any database request. */
    async take(gate = PASSING_GATE): Promise<void> {
      const due = queue.filter(({ at }) => at <= time)
      const batch: Queued[] = []
      while (batch.length < BATCH && due.length > 0) batch.push(...due.splice(choose?.(due.length) ?? 0, 1))
      for (const one of batch) Object.assign(one, { receives: one.receives + 1, at: time + VISIBILITY_MS })
      const received = batch.map(({ id, message, receives }) => ({
        message,
        messageId: `${id}`,
        receives,
        receipt: `${id}`,
      }))
      const { again } = await deliverMessages(
        {
          ...{
            webhooks: webhooksStore(open(gate)),
            eventLog: appendingLogStore(createTransactingTable(createGatedDynamo(dynamo, gate), TEST_TABLES.webhooks)),
          },
          ...{ attempts: attemptsStore(open(gate)), webhookKeys: [SECRET_DERIVATION_KEY], enqueue: enqueueAt(gate) },
          ...{ now: () => time, random: () => 0 },
          postpone: (receipt, seconds) =>
            gate(async () => {
              if (seconds > 43_200) throw new Error('SQS hides a message for 12 hours.')
              for (const one of batch) if (`${one.id}` === receipt) one.at = time + seconds * 1000
            }),
          sendDelivery: (url, { headers, body }) =>
            gate(async () => {
              const { sequence, id } = JSON.parse(body)
              const webhookId = buildWebhookId(CLIENT, url)
              const delivery = { ...{ webhookId, sequence, id, at: time, headers, body } }
              world.received.push(delivery)
              return await world.respond(delivery)
            }),
        },
        received,
      )
      const retriedIds = new Set(
        received.flatMap((one, index) => (again.includes(one) ? (batch[index]?.id ?? []) : [])),
      )
      const done = new Set(batch.flatMap(({ id }) => (retriedIds.has(id) ? [] : id)))
      queue = queue.filter(({ id }) => !done.has(id))
    },
    /**
     * Delivers messages until the queue is empty, or for at most `ms` milliseconds. The clock jumps to the next due message.
     */
    async drain(ms = Number.POSITIVE_INFINITY): Promise<void> {
      const until = time + ms
      while (queue.length > 0) {
        const next = Math.min(...queue.map(({ at }) => at))
        if (next > until) break
        time = Math.max(time, next)
        await world.take()
      }
      if (Number.isFinite(until)) time = Math.max(time, until)
    },
    sequences: (webhook?: Webhook) =>
      [
        ...new Set(
          world.received.filter((one) => !webhook || one.webhookId === webhook.id).map(({ sequence }) => sequence),
        ),
      ].sort((one, other) => one - other),
  }
  return world
}
