import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { contract } from '../../../functions/queues/deliver-events/contract.ts'
import { deliverEvents } from '../../../lib/webhooks/delivery.ts'
import { deliveryStore } from '../../../lib/webhooks/delivery-store.ts'
import type { WebhookEvent } from '../../../lib/webhooks/event.ts'
import { buildEventId, buildWebhookId } from '../../../lib/webhooks/ids.ts'
import { eventLogStore } from '../../../lib/webhooks/log-store.ts'
import { createSender } from '../../../lib/webhooks/send.ts'
import type { Sent } from '../../../lib/webhooks/sent.ts'
import { webhooksStore } from '../../../lib/webhooks/store.ts'
import type { Wake } from '../../../lib/webhooks/wake.ts'
import { test } from '../../support/dynamo.ts'
import { serve } from '../../support/serve.ts'
import { someNotice } from '../../support/webhooks.ts'

const START = Date.parse('2026-11-02T00:00:00.000Z')
const [CLIENTS, WEBHOOKS, EVENTS, PAGE] = [10, 10, 100, 50]
const MINUTE_MS = 60_000
/** What a delivery takes that hangs, and one that does not: of the clock of this test. */
const [HUNG_MS, USUAL_MS] = [5_000, 200]
const BATCH = 10
const OK: Sent = { delivered: true, status: 200 }

test('Of 10,000 events for 100 webhooks, of which ten hang, ten refuse and ten lead into private space, the others have all within a minute, and nothing is lost', {
  timeout: 90_000,
}, async ({ tables }) => {
  const hanging = await serve(() => {})
  let reachedInside = 0
  const inside = await serve((_, response) => {
    reachedInside += 1
    response.end()
  }, '127.0.0.2')
  const leading = await serve((_, response) => response.writeHead(307, { location: inside }).end())
  const BAD = [hanging, 'http://127.0.0.1:1', leading]

  const webhooks = webhooksStore(tables.webhooks)
  const eventLog = eventLogStore(tables.webhooks)
  const clientIds = Array.from({ length: CLIENTS }, (_, index) => `client${index}`)
  /** Each client has one of each bad kind, besides seven that are good. */
  const urls = Array.from({ length: WEBHOOKS }, (_, index) => `${BAD[index] ?? 'https://good.example'}/${index}`)
  const badIds = new Set(clientIds.flatMap((id) => urls.slice(0, 3).map((url) => buildWebhookId(id, url))))
  let queue: { readonly message: Wake; readonly at: number }[] = []
  await Promise.all(
    clientIds.map(async (clientId) => {
      for (const url of urls) {
        const id = buildWebhookId(clientId, url)
        const told = { types: null, finality: 'final', secret: { version: 'one' } } as const
        expect(await webhooks.add(clientId, { ...told, id, url, createdAt: new Date(START), after: 0 })).toBe(true)
        queue.push({ message: { clientId, webhookId: id }, at: START })
      }
      for (let first = 1; first <= EVENTS; first += PAGE) {
        const [event, ...others] = Array.from({ length: PAGE }, (_, index) => someEvent(clientId, first + index))
        if (event) await eventLog.putPage(clientId, [event, ...others], new Date(START + 30 * 86_400_000))
      }
    }),
  )

  const arrived = new Map<string, { readonly sequences: Set<number>; lastAt: number }>()
  const reallySend = createSender({ reach: 'loopback', now: () => START, timeoutMs: 50 })
  let isHealed = false

  /** Works on one message from a moment on, by a clock of its own; how long that takes. */
  async function work(message: Wake, from: number): Promise<number> {
    let time = from
    const sendDelivery = async (url: string, delivery: Parameters<typeof reallySend>[1]): Promise<Sent> => {
      const begunAt = time
      const isBad = !isHealed && !url.startsWith('https://good.example')
      const sent = await (isBad ? reallySend(url, delivery) : OK)
      // What is sent side by side takes as long as the slowest of it.
      time = Math.max(time, begunAt + (!sent.delivered && sent.reason === 'timeout' ? HUNG_MS : USUAL_MS))
      if (sent.delivered) {
        const known = arrived.get(message.webhookId) ?? { sequences: new Set(), lastAt: 0 }
        arrived.set(message.webhookId, known)
        known.sequences.add(JSON.parse(delivery.body).sequence)
        known.lastAt = time
      }
      return sent
    }
    await deliverEvents(
      {
        ...{
          webhooks,
          eventLog,
          deliveries: deliveryStore(tables.webhooks),
          webhookKeys: ['k'.repeat(64)],
        },
        ...{ sendDelivery, randomUUID, now: () => time, random: () => 0 },
        wakeDeliveries: async (messages, { delaySeconds = 0 } = {}) => {
          queue.push(...messages.map((message) => ({ message, at: time + delaySeconds * 1000 })))
        },
      },
      message,
    )
    return time - from
  }

  /** Has the functions that may run at a time work on the queue until a moment; the milliseconds that were billed, and how often. */
  async function run(until: number) {
    const freeAt = Array.from({ length: contract.mostAtATime }, () => START)
    let [billedMs, invocations] = [0, 0]
    for (;;) {
      freeAt.sort((left, right) => left - right)
      const earliest = Math.min(...queue.map(({ at }) => at))
      const at = Math.max(freeAt[0] ?? 0, earliest)
      if (at > until) return { billedMs, invocations }
      const batch = queue.filter((one) => one.at <= at).slice(0, BATCH)
      queue = queue.filter((one) => !batch.includes(one))
      const tookMs = Math.max(...(await Promise.all(batch.map(({ message }) => work(message, at)))))
      expect(tookMs).toBeLessThan(contract.timeoutSeconds * 1000)
      freeAt[0] = at + tookMs
      billedMs += tookMs
      invocations += 1
    }
  }

  const { billedMs, invocations } = await run(START + MINUTE_MS)
  const good = clientIds.flatMap((id) => urls.slice(3).map((url) => arrived.get(buildWebhookId(id, url))))
  for (const one of good) {
    expect(one?.sequences.size).toBe(EVENTS)
    expect((one?.lastAt ?? Number.NaN) - START).toBeLessThanOrEqual(MINUTE_MS)
  }
  expect([...badIds].filter((id) => arrived.has(id))).toEqual([])
  expect(reachedInside).toBe(0)
  // One batch of each client's ten webhooks, and the second try of what hangs: 5 s each at the most.
  expect(invocations).toBeLessThanOrEqual(20)
  expect(billedMs).toBeLessThanOrEqual(20 * HUNG_MS)

  isHealed = true
  await run(Number.MAX_SAFE_INTEGER)
  for (const id of badIds) expect(arrived.get(id)?.sequences.size).toBe(EVENTS)
})

function someEvent(clientId: string, sequence: number): WebhookEvent {
  const { key, ...notice } = someNotice(`key-${sequence}`)
  // A notice is an event but for these.
  return { ...notice, id: buildEventId(clientId, key), sequence } as WebhookEvent
}
