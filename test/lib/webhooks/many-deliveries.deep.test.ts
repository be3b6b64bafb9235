import { expect } from 'vitest'
import { contract } from '../../../functions/queues/deliver-events/contract.ts'
import { publishNotices } from '../../../lib/webhooks/append.ts'
import { attemptsStore } from '../../../lib/webhooks/attempts-store.ts'
import { deliverMessages } from '../../../lib/webhooks/deliver.ts'
import { appendingLogStore } from '../../../lib/webhooks/log-store.ts'
import type { DeliveryMessage } from '../../../lib/webhooks/queue.ts'
import { createSender, type Send } from '../../../lib/webhooks/send.ts'
import { webhooksStore } from '../../../lib/webhooks/store.ts'
import { CLOCK_START, DELIVERED, SECRET_DERIVATION_KEY } from '../../support/deliveries.ts'
import { test as base } from '../../support/dynamo.ts'
import { startTestServer } from '../../support/serve.ts'
import type { Tables } from '../../support/tables.ts'
import { someWebhook, someWebhookEvent } from '../../support/webhooks.ts'

const CLIENT = 'clientAAAA'
const [WEBHOOKS, EVENTS, BATCH] = [10, 1_000, 10]
const HOUR_MS = 3_600_000
/** Duration of a delivery to a hanging server, and of every other delivery, in milliseconds. */
const [HUNG_MS, USUAL_MS] = [5_000, 200]
const VISIBILITY_MS = 180_000

type Queued = { readonly message: DeliveryMessage; at: number; receives: number }

/**
 * Publishes webhook events to webhooks at these URLs. Delivers them for an hour with as many parallel functions as
 * Lambda allows.
 */
async function deliverAll(tables: Tables, urls: readonly string[], send: Send) {
  const webhooks = webhooksStore(tables.webhooks)
  const eventLog = appendingLogStore(tables.webhooks)
  const attempts = attemptsStore(tables.webhooks)
  let queue: Queued[] = []
  let time = CLOCK_START
  const enqueue = async (messages: readonly DeliveryMessage[], { delaySeconds = 0 } = {}) => {
    for (const message of messages) queue.push({ message, at: time + delaySeconds * 1000, receives: 0 })
  }
  for (const url of urls) expect(await webhooks.add(CLIENT, someWebhook(CLIENT, { url }))).toBe(true)
  const notices = Array.from({ length: EVENTS }, (_, index) => someWebhookEvent(`key-${index}`))
  await publishNotices({ eventLog, webhooks, enqueue, now: () => CLOCK_START, random: () => 0 }, notices, () => [
    CLIENT,
  ])

  const lastAt = new Map<string, number>()
  const sequences = new Map(urls.map((url) => [url, new Set<number>()]))
  const requests = new Map(urls.map((url) => [url, 0]))
  const freeAt = Array.from({ length: contract.maxConcurrency }, () => CLOCK_START)
  for (;;) {
    freeAt.sort((left, right) => left - right)
    const at = Math.max(freeAt[0] ?? 0, Math.min(...queue.map((one) => one.at)))
    if (at > CLOCK_START + HOUR_MS) break
    const batch: Queued[] = []
    for (const one of queue) if (one.at <= at && batch.length < BATCH) batch.push(one)
    time = at
    let tookMs = 0
    for (const one of batch) Object.assign(one, { receives: one.receives + 1, at: at + VISIBILITY_MS })
    const received = batch.map(({ message, receives }, index) => ({
      message,
      receives,
      messageId: '',
      receipt: `${index}`,
    }))
    const { again } = await deliverMessages(
      {
        ...{
          webhooks,
          eventLog,
          attempts,
          webhookKeys: [SECRET_DERIVATION_KEY],
          enqueue,
          now: () => time,
          random: () => 0,
        },
        postpone: async (receipt, seconds) => {
          const one = batch[Number(receipt)]
          if (one) one.at = time + seconds * 1000
        },
        sendDelivery: async (url, delivery) => {
          const sent = await send(url, delivery)
          requests.set(url, (requests.get(url) ?? 0) + 1)
          tookMs = Math.max(tookMs, !sent.delivered && sent.reason === 'timeout' ? HUNG_MS : USUAL_MS)
          if (sent.delivered) {
            sequences.get(url)?.add(JSON.parse(delivery.body).sequence)
            lastAt.set(url, at + tookMs)
          }
          return sent
        },
      },
      received,
    )
    const isDone = (one: Queued) => batch.includes(one) && !again.some((other) => other.message === one.message)
    queue = queue.filter((one) => !isDone(one))
    freeAt[0] = at + tookMs
  }
  return { lastAt, sequences, requests, queue: () => queue }
}

const test = base.extend('bad', async () => {
  const hanging = await startTestServer(() => {})
  let reachedInside = 0
  const inside = await startTestServer((_, response) => {
    reachedInside += 1
    response.end()
  }, '127.0.0.2')
  const leading = await startTestServer((_, response) => response.writeHead(307, { location: inside }).end())
  return { urls: [`${hanging}/0`, 'http://127.0.0.1:1/1', `${leading}/2`], reachedInside: () => reachedInside }
})

test('Three failing webhooks of ten barely delay 1,000 events to the others, and cost few requests', {
  timeout: 90_000,
}, async ({ tables, bad }) => {
  const good = Array.from({ length: WEBHOOKS - bad.urls.length }, (_, index) => `https://good.example/${index}`)
  const reallySend = createSender({ reach: 'loopback', now: () => CLOCK_START, timeoutMs: 50 })
  const send: Send = async (url, delivery) => (good.includes(url) ? DELIVERED : await reallySend(url, delivery))
  const { lastAt, sequences, requests, queue } = await deliverAll(tables, [...bad.urls, ...good], send)
  // Time in milliseconds that deliveries to the good webhooks would take without the failing webhooks.
  const goodOnlyMs = Math.ceil((EVENTS * good.length) / (BATCH * contract.maxConcurrency)) * USUAL_MS
  for (const url of good) {
    expect(sequences.get(url)?.size).toBe(EVENTS)
    expect((lastAt.get(url) ?? Number.NaN) - CLOCK_START).toBeLessThanOrEqual(goodOnlyMs * 1.5 + 2 * HUNG_MS)
  }
  for (const url of bad.urls) {
    expect(sequences.get(url)?.size).toBe(0)
    expect(requests.get(url)).toBeLessThanOrEqual(100)
  }
  expect(bad.reachedInside()).toBe(0)
  // The queue holds one message for each failing webhook. The message later tests whether the webhook works again.
  expect(queue()).toHaveLength(bad.urls.length)
})
