import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { createTable } from '../../../lib/aws/table.ts'
import { deliverEvents } from '../../../lib/webhooks/delivery.ts'
import type { Resumption } from '../../../lib/webhooks/delivery-state.ts'
import { deliveryStore } from '../../../lib/webhooks/delivery-store.ts'
import { WebhookEvent } from '../../../lib/webhooks/event.ts'
import { buildEventId, buildWebhookId } from '../../../lib/webhooks/ids.ts'
import { eventLogStore } from '../../../lib/webhooks/log-store.ts'
import { listSecrets } from '../../../lib/webhooks/secret.ts'
import type { Sent } from '../../../lib/webhooks/sent.ts'
import { webhooksStore } from '../../../lib/webhooks/store.ts'
import type { Wake } from '../../../lib/webhooks/wake.ts'
import type { Webhook } from '../../../lib/webhooks/webhook.ts'
import { test as base } from '../../support/dynamo.ts'
import { captureLogs } from '../../support/logs.ts'
import type { Connection } from '../../support/memory-dynamo.ts'
import { runs } from '../../support/runs.ts'
import { TEST_TABLES } from '../../support/tables.ts'
import { verifyDelivery } from '../../support/webhook-signatures.ts'
import { type Gate, gated, killedAfter, passing, someNotice } from '../../support/webhooks.ts'

const CLIENT = 'clientAAAA'
const START = Date.parse('2026-11-02T00:00:00.000Z')
const KEY = 'k'.repeat(64)
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]
const OK: Sent = { delivered: true, status: 200 }
const NO: Sent = { delivered: false, reason: 'status', status: 500 }
/** That the server knows nothing of what an event is about. */
const REFUSED: Sent = { delivered: false, reason: 'status', status: 404 }
/** Those of the standard, after the first delivery, the second and so on. */
const PAUSES = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)]

/** A client's webhook, registered when its log was empty. */
function someWebhook(overrides: Partial<Webhook> = {}): Webhook {
  const url = overrides.url ?? 'https://receiver.example/'
  return {
    ...{ id: buildWebhookId(CLIENT, url), url, types: null, finality: 'final', secret: { version: 'one' } },
    ...{ createdAt: new Date(START), after: 0, ...overrides },
  }
}

/** What is sent, as a receiver gets it. */
type Received = { readonly id: string; readonly at: number; readonly headers: Record<string, string>; body: string }

/** What delivers with a table and a queue, by a clock of its own, to a receiver that answers as it is told. */
function system({ dynamo }: Connection) {
  const open = (gate: Gate = passing) => createTable(gated(dynamo, gate), TEST_TABLES.webhooks)
  let time = START
  let queue: { readonly message: Wake; readonly at: number }[] = []
  const log = eventLogStore(open())
  const webhooks = webhooksStore(open())
  let leases = 0
  const world = {
    log,
    webhooks,
    deliveries: deliveryStore(open()),
    /** What arrived or not, in the order that it was sent in. */
    received: [] as Received[],
    state: async () => (await world.deliveries.get(world.key())).state,
    key: () => ({ clientId: CLIENT, webhookId: world.webhook.id }),
    /** The sequences that were given up. */
    givenUp: async () => (await world.state())?.givenUp.map(({ sequence }) => sequence),
    answer: (_: Received): Sent | Promise<Sent> => OK,
    webhook: someWebhook(),
    now: () => time,
    pass: (ms: number) => {
      time += ms
    },
    queue: () => queue,
    register: async (webhook: Webhook) => {
      world.webhook = webhook
      expect(await webhooks.add(CLIENT, webhook)).toBe(true)
    },
    /** Puts so many events into the log, from a sequence on, in a page of their own. */
    add: async (first: number, count: number, overrides: Partial<WebhookEvent> = {}) => {
      const [event, ...others] = Array.from({ length: count }, (_, index) => someEvent(first + index, overrides))
      if (event) expect(await log.putPage(CLIENT, [event, ...others], new Date(START + 30 * 24 * HOUR))).toBe(true)
    },
    deliver: (message: Partial<Wake> = {}, gate = passing) =>
      deliverEvents(
        {
          ...{ webhooks: webhooksStore(open(gate)), webhookKeys: [KEY], random: () => 0 },
          ...{ eventLog: eventLogStore(open(gate)), now: () => time },
          deliveries: deliveryStore(open(gate)),
          sendDelivery: (_, { headers, body }) =>
            gate(async () => {
              const received = { id: headers['webhook-id'] ?? '', at: time, headers, body }
              world.received.push(received)
              return await world.answer(received)
            }),
          wakeDeliveries: (messages, { delaySeconds = 0 } = {}) =>
            gate(async () => {
              expect(delaySeconds).toBeLessThanOrEqual(900)
              queue.push(...messages.map((message) => ({ message, at: time + delaySeconds * SECOND })))
            }),
          randomUUID: () => {
            leases += 1
            return `lease ${leases}`
          },
        },
        { ...world.key(), ...message },
      ),
    /** Asks for what is not due, all of it unless told, and has it sent. */
    resume: async (resumption: Resumption = 'all') => {
      await world.deliveries.ask(world.key(), resumption, time)
      return await world.deliver()
    },
    /** Works on what is in the queue until nothing is, or for so long; time passes until each message comes. */
    drain: async (ms = Number.POSITIVE_INFINITY) => {
      const until = time + ms
      for (;;) {
        const [next] = queue.toSorted((left, right) => left.at - right.at)
        if (!next || next.at > until) break
        queue = queue.filter((other) => other !== next)
        time = Math.max(time, next.at)
        await world.deliver(next.message)
      }
    },
    /** The sequences of what was received, each once, in order. */
    sequences: () => [...new Set(world.received.map(({ body }) => sequenceOf(body)))].sort((a, b) => a - b),
  }
  return world
}

const test = base.extend('world', ({ memory }) => system(memory))

function someEvent(sequence: number, overrides: Partial<WebhookEvent>): WebhookEvent {
  const { key, ...notice } = someNotice(`key-${sequence}`)
  // A notice's data, whatever its type.
  return { ...notice, ...overrides, id: buildEventId(CLIENT, key), sequence } as WebhookEvent
}

function sequenceOf(body: string): number {
  return JSON.parse(body).sequence
}

/** How long each event waited between its deliveries, in milliseconds. */
function gapsOf(received: readonly Received[]): number[][] {
  const sent = Object.values(Object.groupBy(received, ({ id }) => id))
  return sent.map((each = []) => each.slice(1).map(({ at }, index) => at - (each[index]?.at ?? at)))
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe('A webhook', () => {
  test('is sent an event of the log, in its very bytes, signed by each of its secrets', async ({ world }) => {
    const secret = { version: 'two', before: { version: 'one', until: new Date(START + HOUR) } }
    await world.register(someWebhook({ secret }))
    await world.add(1, 1)
    expect(await world.deliver()).toEqual({ delivered: 1, failed: 0, givenUp: 0 })
    const [received] = world.received
    if (!received) throw new Error('nothing was received')
    const { headers, body } = received
    const [event] = await world.log.list(CLIENT, { after: 0, limit: 1, now: START })
    expect(body).toBe(JSON.stringify(event && WebhookEvent.encode(event)))
    expect(headers['webhook-id']).toBe(event?.id)
    const secrets = listSecrets([KEY], CLIENT, world.webhook, START)
    expect(secrets).toHaveLength(2)
    // The library holds the moment to its own clock.
    const { now } = Date
    Date.now = () => START
    for (const one of secrets) expect(verifyDelivery({ headers, body }, one)).toEqual(JSON.parse(body))
    Date.now = now
  })

  test('is sent an event with five requests to the table, two of which write', async ({ world, requests }) => {
    await world.register(someWebhook())
    await world.add(1, 1)
    requests.length = 0
    await world.deliver()
    expect(requests).toEqual(['GetItem', 'GetItem', 'UpdateItem', 'Query', 'UpdateItem'])
    requests.length = 0
    expect(await world.deliver()).toEqual({ delivered: 0, failed: 0, givenUp: 0 })
    expect(requests).toEqual(['GetItem', 'GetItem', 'UpdateItem', 'Query', 'UpdateItem'])
  })

  test('is sent ten events side by side, with one write for them', async ({ world, requests }) => {
    await world.register(someWebhook())
    await world.add(1, 50)
    let [under, most] = [0, 0]
    world.answer = async () => {
      under += 1
      most = Math.max(most, under)
      await new Promise((resolve) => setImmediate(resolve))
      under -= 1
      return OK
    }
    requests.length = 0
    expect(await world.deliver()).toEqual({ delivered: 50, failed: 0, givenUp: 0 })
    expect(most).toBe(10)
    expect(world.sequences()).toEqual(upTo(50))
    expect(world.received).toHaveLength(50)
    expect(requests.filter((request) => request === 'UpdateItem')).toHaveLength(1 + 5)
    expect(world.queue()).toEqual([])
  })

  test('is sent what it wants alone, from where it was registered', async ({ world, requests }) => {
    await world.register(someWebhook({ types: ['deposit.claimable'], after: 2 }))
    await world.add(1, 2, { type: 'deposit.claimable' })
    await world.add(3, 40)
    await world.add(43, 2, { type: 'deposit.claimable', final: false })
    await world.add(45, 1, { type: 'deposit.claimable' })
    expect(await world.deliver()).toEqual({ delivered: 1, failed: 0, givenUp: 0 })
    expect(world.sequences()).toEqual([45])
    // What it does not want is not read again.
    requests.length = 0
    await world.add(46, 1)
    await world.deliver()
    expect(requests.filter((request) => request === 'Query')).toHaveLength(1)
  })

  test('that was removed, or switched off, is sent nothing', async ({ world }) => {
    await world.register(someWebhook())
    await world.add(1, 1)
    await world.webhooks.disable(CLIENT, world.webhook, { at: new Date(START), reason: 'failing' })
    expect(await world.deliver()).toEqual({ delivered: 0, failed: 0, givenUp: 0 })
    await world.webhooks.remove(CLIENT, world.webhook.id)
    expect(await world.deliver()).toEqual({ delivered: 0, failed: 0, givenUp: 0 })
    expect(world.received).toEqual([])
  })

  test('that is registered again at the same URL begins anew', async ({ world }) => {
    await world.register(someWebhook())
    await world.add(1, 3)
    world.answer = () => NO
    await world.deliver()
    await world.webhooks.remove(CLIENT, world.webhook.id)
    await world.register(someWebhook({ createdAt: new Date(START + SECOND), after: 3 }))
    await world.add(4, 1)
    world.answer = () => OK
    await world.deliver()
    expect(world.received.slice(3).map(({ body }) => sequenceOf(body))).toEqual([4])
  })
})

describe('A webhook that takes nothing', () => {
  test('is left alone for the pauses of the standard, and switched off after three days of them', async ({ world }) => {
    const { lines, text } = captureLogs()
    await world.register(someWebhook())
    await world.add(1, 30)
    world.answer = () => NO
    await world.deliver()
    await world.drain()
    const moments = [...new Set(world.received.map(({ at }) => at - START))]
    expect(moments.map((at, index) => at - (moments[index - 1] ?? at))).toEqual([0, ...PAUSES])
    // After the first batch one event at a time finds out whether it takes anything.
    expect(world.received).toHaveLength(10 + 9)
    const [webhook] = await world.webhooks.list(CLIENT)
    expect(webhook).toMatchObject({ disabledReason: 'failing', disabledAt: new Date(world.now()) })
    expect(lines.filter(({ message }) => message === 'webhook switched off')).toMatchObject([
      {
        level: 'WARN',
        clientId: CLIENT,
        webhookId: world.webhook.id,
        disabledReason: 'failing',
        reason: 'status',
        status: 500,
      },
    ])
    expect(text()).not.toContain('receiver.example')
    expect(await world.givenUp()).toEqual([])

    // Switched on again it is told everything at once, nothing of which is lost.
    world.answer = () => OK
    expect(webhook && (await world.webhooks.enable(CLIENT, webhook))).toBe(true)
    world.received.length = 0
    await world.resume()
    expect(world.sequences()).toEqual(upTo(30))
  })

  test('is sent one of what has failed at a time, which the others wait for, and keeps all of it', async ({
    world,
  }) => {
    captureLogs()
    await world.register(someWebhook())
    await world.add(1, 10)
    world.answer = () => NO
    await world.deliver()
    await world.drain()
    expect(await world.webhooks.list(CLIENT)).toMatchObject([{ disabledReason: 'failing' }])
    const counts = Object.values(Object.groupBy(world.received, ({ id }) => id)).map((sent) => sent?.length ?? 0)
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
    expect(world.received.length).toBeLessThanOrEqual(60)
    expect(new Set(world.received.slice(10).map(({ at }) => at)).size).toBe(world.received.length - 10)

    expect(await world.givenUp()).toEqual([])
    world.answer = () => OK
    await world.webhooks.enable(CLIENT, world.webhook)
    world.received.length = 0
    await world.resume()
    expect(world.sequences()).toEqual(upTo(10))
  })

  test('tells the log each time why, and nothing of its URL', async ({ world }) => {
    const { lines, text } = captureLogs()
    await world.register(someWebhook())
    await world.add(1, 2)
    world.answer = () => ({ delivered: false, reason: 'timeout' })
    await world.deliver()
    world.answer = () => NO
    await world.drain(6 * SECOND)
    const of = { clientId: CLIENT, webhookId: world.webhook.id, level: 'WARN', message: 'deliveries failed' }
    expect(lines).toMatchObject([
      { ...of, failed: 2, of: 2, reason: 'timeout', failures: 2 },
      { ...of, failed: 1, of: 1, reason: 'status', status: 500, failures: 2 },
    ])
    expect(text()).not.toContain('receiver.example')
    expect(await world.state()).toMatchObject({ lastFailure: { at: world.now(), reason: 'status', status: 500 } })
  })

  test('costs a message each quarter of an hour while it rests, and no more when events come', async ({
    world,
    requests,
  }) => {
    await world.register(someWebhook())
    await world.add(1, 30)
    world.answer = () => NO
    await world.deliver()
    await world.drain(3 * HOUR)
    // The pause of two hours began after 35 minutes; that of five is under way.
    expect(world.received).toHaveLength(10 + 4)
    for (let index = 0; index < 10; index += 1) await world.deliver()
    expect(world.queue()).toHaveLength(1)
    expect(world.received).toHaveLength(10 + 4)
    requests.length = 0
    await world.drain(HOUR)
    expect(requests).toEqual(['GetItem', 'GetItem', 'GetItem', 'GetItem'])
  })

  test('is sent everything as soon as it takes something again', async ({ world }) => {
    await world.register(someWebhook())
    await world.add(1, 25)
    world.answer = () => NO
    await world.deliver()
    world.answer = () => OK
    await world.drain(5 * MINUTE)
    expect(world.sequences()).toEqual(upTo(25))
    expect(await world.state()).toMatchObject({
      ...{ failures: 0, retries: {} },
    })
  })

  test('and says that it is gone is switched off at once', async ({ world }) => {
    captureLogs()
    await world.register(someWebhook())
    await world.add(1, 3)
    world.answer = () => ({ delivered: false, reason: 'status', status: 410 })
    await world.deliver()
    expect(await world.webhooks.list(CLIENT)).toMatchObject([{ disabledReason: 'gone' }])
    expect(world.queue()).toEqual([])
  })

  test.for<[string, Sent, number]>([
    ['for as long as it asks for', { delivered: false, reason: 'status', status: 503, retryAfterMs: HOUR }, HOUR],
    ['for a day at most', { delivered: false, reason: 'status', status: 503, retryAfterMs: 90 * HOUR }, 24 * HOUR],
    ['for a minute where it does not say', { delivered: false, reason: 'status', status: 429 }, MINUTE],
  ])('because it has too much to do is left alone %s', async ([, sent, pause], { world }) => {
    await world.register(someWebhook())
    await world.add(1, 12)
    // Some of it arrives: the webhook has not failed, and rests all the same.
    world.answer = ({ body }) => (sequenceOf(body) === 3 ? sent : OK)
    await world.deliver()
    world.answer = () => OK
    await world.drain()
    const later = world.received.slice(10).map(({ at, body }) => [sequenceOf(body), at - START])
    expect(later).toEqual([3, 11, 12].map((sequence) => [sequence, pause]))
  })
})

describe('An event that a server refuses', () => {
  test('holds up no other, and is given up by itself', async ({ world }) => {
    captureLogs()
    await world.register(someWebhook())
    world.answer = ({ body }) => (sequenceOf(body) <= 20 ? REFUSED : OK)
    await world.add(1, 20)
    await world.deliver()
    for (let hour = 1; hour <= 80; hour += 1) {
      world.pass(START + hour * HOUR - world.now())
      await world.add(20 + hour, 1)
      await world.deliver()
      expect(world.received.at(-1)).toMatchObject({ at: START + hour * HOUR })
      expect(sequenceOf(world.received.at(-1)?.body ?? '{}')).toBe(20 + hour)
      await world.drain(59 * MINUTE)
    }
    expect(world.received).toHaveLength(20 * 10 + 80)
    expect(await world.givenUp()).toHaveLength(20)
    expect(await world.webhooks.list(CLIENT)).not.toHaveProperty('0.disabledAt')
  })

  test('as it does all others is sent ten times at most, and the webhook switched off after three days of that', async ({
    world,
  }) => {
    captureLogs()
    await world.register(someWebhook())
    world.answer = () => REFUSED
    for (let index = 0; index < 10; index += 1) {
      world.pass(Math.max(0, START + index * 8 * HOUR - world.now()))
      await world.add(index + 1, 1)
      await world.deliver()
      await world.drain(8 * HOUR)
    }
    const [webhook] = await world.webhooks.list(CLIENT)
    expect(webhook).toMatchObject({ disabledReason: 'failing' })
    expect(Number(webhook?.disabledAt) - START).toBeGreaterThanOrEqual(72 * HOUR)
    expect(Number(webhook?.disabledAt) - START).toBeLessThan(76 * HOUR)
    for (const gaps of gapsOf(world.received)) expect(gaps.length).toBeLessThan(10)
  })

  test('is sent again at its pauses, however often a test succeeds meanwhile', async ({ world }) => {
    captureLogs()
    await world.register(someWebhook())
    world.answer = () => REFUSED
    await world.add(1, 10)
    await world.deliver()
    for (let hour = 4; hour <= 80; hour += 4) {
      await world.drain(START + hour * HOUR - world.now())
      world.pass(START + hour * HOUR - world.now())
      await world.resume('rest')
    }
    for (const gaps of gapsOf(world.received)) expect(gaps).toEqual(PAUSES)
    expect(world.received).toHaveLength(10 * 10)
  })
})

test('What fails in an hour in which some is taken is sent again at its pauses, and arrives', async ({ world }) => {
  captureLogs()
  await world.register(someWebhook())
  const taken = new Set<number>()
  world.answer = ({ body, at }) => {
    const sequence = sequenceOf(body)
    if (sequence % 3 !== 0 && at - START < HOUR) return NO
    taken.add(sequence)
    return OK
  }
  for (const sequence of upTo(30)) {
    world.pass(Math.max(0, START + sequence * 2 * MINUTE - world.now()))
    await world.add(sequence, 1)
    await world.deliver()
    await world.drain(119 * SECOND)
  }
  await world.drain()
  for (const gaps of gapsOf(world.received)) {
    for (const [index, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual(PAUSES[index] ?? Number.NaN)
  }
  expect(taken.size).toBe(30)
})

describe('An event that a webhook does not take, while it takes others,', () => {
  test('is sent ten times, holds up nothing, and is given up until the webhook is resumed', async ({ world }) => {
    const { lines } = captureLogs()
    await world.register(someWebhook())
    await world.add(1, 12)
    world.answer = ({ body }) => (sequenceOf(body) === 4 ? NO : OK)
    await world.deliver()
    expect(world.sequences()).toEqual(upTo(12))
    await world.drain()
    expect(world.received.filter(({ body }) => sequenceOf(body) !== 4)).toHaveLength(11)
    expect(world.received.filter(({ body }) => sequenceOf(body) === 4)).toHaveLength(10)
    expect(await world.state()).toMatchObject({
      retries: {},
      givenUp: [{ sequence: 4, page: 1, at: world.now() }],
      lastFailure: { at: world.now(), reason: 'status', status: 500 },
    })
    expect(lines.filter(({ message }) => message === 'events given up')).toMatchObject([
      { level: 'WARN', clientId: CLIENT, webhookId: world.webhook.id, events: 1 },
    ])
    expect(await world.webhooks.list(CLIENT)).not.toHaveProperty('0.disabledAt')

    world.answer = () => OK
    expect(await world.resume()).toEqual({ delivered: 1, failed: 0, givenUp: 0 })
    expect(await world.givenUp()).toEqual([])
    expect(world.queue()).toEqual([])
  })

  test('is all that there is does not hold up the next one, which is sent at once', async ({ world }) => {
    captureLogs()
    await world.register(someWebhook())
    await world.add(1, 1)
    world.answer = ({ body }) => (sequenceOf(body) === 1 ? NO : OK)
    await world.deliver()
    await world.drain(40 * HOUR)
    expect(world.received).toHaveLength(8)
    await world.add(2, 1)
    expect(await world.deliver()).toEqual({ delivered: 1, failed: 0, givenUp: 0 })
    // Whether it is the event or the server nobody knows: it is given up by itself, and nothing is switched off.
    await world.drain()
    expect(world.received).toHaveLength(11)
    expect(await world.givenUp()).toEqual([1])
    expect(await world.webhooks.list(CLIENT)).not.toHaveProperty('0.disabledAt')
  })

  test('is one of some in a row has the webhook rest longer with each that is new, and not with what is sent again', async ({
    world,
  }) => {
    captureLogs()
    await world.register(someWebhook())
    world.answer = ({ body }) => (sequenceOf(body) <= 3 ? NO : OK)
    for (const sequence of upTo(3)) {
      await world.add(sequence, 1)
      await world.deliver()
      await world.drain(10 * HOUR)
      world.pass(10 * HOUR)
      expect(world.sequences()).toEqual(upTo(sequence))
    }
    await world.add(4, 1)
    await world.deliver()
    expect(world.sequences()).toEqual(upTo(4))
    expect(await world.state()).toMatchObject({ failures: 0 })
  })

  test('is one of very many lets the webhook go on, and is given up earlier', async ({ world }) => {
    await world.register(someWebhook())
    for (let page = 0; page < 4; page += 1) await world.add(page * 50 + 1, 50)
    const isGood = (sequence: number) => sequence % 2 === 0
    world.answer = ({ body }) => (isGood(sequenceOf(body)) ? OK : NO)
    await world.deliver()
    await world.drain(3 * HOUR)
    expect(world.sequences()).toEqual(upTo(200))
    const given = (await world.givenUp()) ?? []
    expect(given.length).toBeGreaterThanOrEqual(100 - 90)
    expect(given.filter(isGood)).toEqual([])
    for (const sequence of given) {
      const sent = world.received.filter(({ body }) => sequenceOf(body) === sequence)
      expect(sent.length).toBeGreaterThanOrEqual(4)
    }
  })

  test('is kept with the last hundred that were given up, of which a webhook that is resumed has as many as it has room for', async ({
    world,
  }) => {
    captureLogs()
    await world.register(someWebhook())
    for (let page = 0; page < 9; page += 1) await world.add(page * 50 + 1, 50)
    world.answer = ({ body }) => (sequenceOf(body) % 2 === 0 ? OK : NO)
    await world.deliver()
    await world.drain(6 * HOUR)
    const given = (await world.givenUp()) ?? []
    expect(given).toHaveLength(100)
    world.answer = () => OK
    world.received.length = 0
    for (const left of [100, 10, 0]) {
      await world.resume()
      expect(await world.givenUp()).toHaveLength(left)
    }
    expect(world.sequences()).toEqual(expect.arrayContaining(given))
  })

  test('and is given up is forgotten with the log, after 30 days', async ({ world }) => {
    captureLogs()
    await world.register(someWebhook())
    await world.add(1, 1)
    world.answer = () => NO
    await world.deliver()
    await world.drain()
    expect(await world.givenUp()).toEqual([1])
    world.pass(30 * 24 * HOUR)
    await world.add(2, 1)
    await world.deliver()
    await world.drain()
    expect(await world.givenUp()).toEqual([2])
  })

  test('is not sent by a webhook that is switched off', async ({ world }) => {
    await world.register(someWebhook())
    await world.webhooks.disable(CLIENT, world.webhook, { at: new Date(START), reason: 'failing' })
    await world.add(1, 1)
    await world.resume()
    expect(world.received).toEqual([])
  })
})

describe('Two messages of one webhook', () => {
  test('are not worked on at a time, and what comes meanwhile is not lost', async ({ world }) => {
    await world.register(someWebhook())
    await world.add(1, 1)
    const [begun, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<Sent>()]
    world.answer = () => {
      begun.resolve()
      return answered.promise
    }
    const first = world.deliver()
    await begun.promise
    await world.add(2, 1)
    expect(await world.deliver()).toEqual({ delivered: 0, failed: 0, givenUp: 0 })
    world.answer = () => OK
    answered.resolve(OK)
    expect(await first).toEqual({ delivered: 2, failed: 0, givenUp: 0 })
    expect(world.received).toHaveLength(2)
  })

  test('that come after one was killed find the lease ended', async ({ world }) => {
    await world.register(someWebhook())
    await world.add(1, 1)
    const { gate } = killedAfter(3)
    await expect(world.deliver({}, gate)).rejects.toThrow('killed')
    expect(await world.deliver()).toEqual({ delivered: 0, failed: 0, givenUp: 0 })
    world.pass(41 * SECOND)
    expect(await world.deliver()).toEqual({ delivered: 1, failed: 0, givenUp: 0 })
  })

  test('of which one resumes it are one more, however often that is asked for while the other is worked on', async ({
    world,
  }) => {
    captureLogs()
    await world.register(someWebhook())
    await world.add(1, 1)
    world.answer = () => REFUSED
    await world.deliver()
    await world.drain()
    expect(await world.givenUp()).toEqual([1])
    world.received.length = 0
    const [begun, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<Sent>()]
    world.answer = () => {
      begun.resolve()
      return answered.promise
    }
    await world.add(2, 1)
    const first = world.deliver()
    await begun.promise
    // A test that succeeds asks for less, and takes nothing back.
    for (const resumption of ['rest', 'all', 'all', 'rest'] as const) {
      expect(await world.resume(resumption)).toEqual({ delivered: 0, failed: 0, givenUp: 0 })
    }
    expect(world.queue()).toEqual([])
    world.answer = () => OK
    // It fails, and is resumed with what was given up.
    answered.resolve(NO)
    expect(await first).toEqual({ delivered: 2, failed: 1, givenUp: 0 })
    expect(world.received.map(({ body }) => sequenceOf(body)).sort()).toEqual([1, 2, 2])
    expect(await world.deliveries.get(world.key())).not.toHaveProperty('resumption')
  })
})

describe('A turn', () => {
  test('ends after ten seconds, and the rest comes with another message', async ({ world }) => {
    await world.register(someWebhook())
    await world.add(1, 150)
    world.answer = slowly(world, 0.9)
    expect(await world.deliver()).toEqual({ delivered: 120, failed: 0, givenUp: 0 })
    expect(world.queue()).toMatchObject([{ at: world.now(), message: { clientId: CLIENT } }])
    await world.drain()
    expect(world.sequences()).toEqual(upTo(150))
    expect(world.received).toHaveLength(150)
  })

  test('ends with a batch that took longer than a second, so that others have theirs', async ({ world }) => {
    await world.register(someWebhook())
    await world.add(1, 20)
    world.answer = slowly(world, 2)
    expect(await world.deliver()).toEqual({ delivered: 10, failed: 0, givenUp: 0 })
    expect(world.queue()).toMatchObject([{ at: world.now(), message: { clientId: CLIENT } }])
    await world.drain()
    expect(world.received).toHaveLength(20)
  })

  /** Takes everything, and so many seconds for each batch of ten. */
  const slowly = (world: { pass: (ms: number) => void }, seconds: number) => {
    let sent = 0
    return () => {
      sent += 1
      if (sent % 10 === 0) world.pass(seconds * SECOND)
      return OK
    }
  }
})

describe('Wherever it is killed,', () => {
  test('each event arrives, and what waits for later comes', async ({ world }) => {
    const whole = killedAfter(Number.POSITIVE_INFINITY)
    await world.register(someWebhook())
    await world.add(1, 12)
    const answer = () => {
      const failed = new Set<string>()
      return ({ id, body }: Received) => {
        if (sequenceOf(body) % 5 !== 0 || failed.has(id)) return OK
        failed.add(id)
        return NO
      }
    }
    world.answer = answer()
    await world.deliver({}, whole.gate)
    await world.drain()
    expect(world.sequences()).toEqual(upTo(12))
    const requests = whole.count()
    expect(requests).toBeGreaterThan(15)
    for (let passed = 0; passed < requests; passed += 1) {
      await world.webhooks.remove(CLIENT, world.webhook.id)
      await world.register(someWebhook({ createdAt: new Date(START + passed + 1) }))
      world.received.length = 0
      const arrived = new Set<number>()
      const say = answer()
      world.answer = (received) => {
        const sent = say(received)
        if (sent.delivered) arrived.add(sequenceOf(received.body))
        return sent
      }
      const { gate } = killedAfter(passed)
      await world.deliver({}, gate).catch(() => {})
      // The message was not done, and is handed out again.
      world.pass(180 * SECOND)
      await world.deliver()
      await world.drain()
      expect(
        [...arrived].sort((a, b) => a - b),
        `killed after ${passed} requests`,
      ).toEqual(upTo(12))
    }
  })

  test('whatever is answered, repeated, killed and late: nothing that is kept is lost', async ({ world }) => {
    let round = 0
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), count: fc.integer({ min: 1, max: 12 }) }),
      fc.record({ do: fc.constant('deliver' as const), killedAfter: fc.option(fc.integer({ min: 0, max: 12 })) }),
      fc.record({ do: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 1000 }) }),
      fc.record({ do: fc.constant('answer' as const), failing: fc.integer({ min: 0, max: 3 }) }),
      fc.record({ do: fc.constant('days' as const), days: fc.integer({ min: 1, max: 2 }) }),
      fc.record({ do: fc.constant('test' as const) }),
    )
    let last = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 14 }), async (steps) => {
        round += 1
        await world.webhooks.remove(CLIENT, world.webhook.id)
        const after = last
        await world.register(someWebhook({ createdAt: new Date(START + round), after }))
        const arrived = new Set<number>()
        let failing = 0
        const resume = async () => {
          await world.webhooks.enable(CLIENT, world.webhook)
          await world.resume()
        }
        world.answer = ({ body }) => {
          const isBad = failing === 3 || (failing > 0 && sequenceOf(body) % failing === 0)
          if (!isBad) arrived.add(sequenceOf(body))
          return isBad ? NO : OK
        }
        for (const one of steps) {
          if (one.do === 'answer') failing = one.failing
          if (one.do === 'pass') {
            await world.drain(one.seconds * SECOND)
            world.pass(one.seconds * SECOND)
          }
          if (one.do === 'days') await world.drain(one.days * 24 * HOUR)
          if (one.do === 'test') await resume()
          if (one.do === 'add') {
            await world.add(last + 1, one.count)
            last += one.count
            await world.deliver()
          }
          if (one.do === 'deliver') {
            const { gate } = killedAfter(one.killedAfter ?? Number.POSITIVE_INFINITY)
            const isDone = await world.deliver({}, gate).then(
              () => true,
              () => false,
            )
            if (!isDone) {
              world.pass(180 * SECOND)
              await world.deliver()
            }
          }
        }
        failing = 0
        await world.drain()
        // Whatever was given up, or not sent as it was switched off, is sent when it is resumed.
        await resume()
        await world.drain()
        const expected = Array.from({ length: last - after }, (_, index) => after + 1 + index)
        expect([...arrived].sort((a, b) => a - b)).toEqual(expected)
        expect(await world.givenUp()).toEqual([])
      }),
      { numRuns: runs(15) },
    )
  })

  test('and whatever is refused, down, tested and resumed: no event is in two places, or sent before its pause, and a good one waits behind none that is refused', async ({
    world,
  }) => {
    captureLogs()
    const step = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          do: fc.constant('add' as const),
          kinds: fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant('pass' as const), minutes: fc.integer({ min: 1, max: 150 }) }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), of: fc.constantFrom(1, 2, 3) }) },
      { weight: 1, arbitrary: fc.constant({ do: 'mend' as const }) },
      { weight: 1, arbitrary: fc.constant({ do: 'test' as const }) },
      { weight: 1, arbitrary: fc.constant({ do: 'resume' as const }) },
    )
    let [round, last] = [0, 0]
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 12 }), async (steps) => {
        round += 1
        await world.webhooks.remove(CLIENT, world.webhook.id)
        const after = last
        await world.register(someWebhook({ createdAt: new Date(START + round), after }))
        const refused = new Set<number>()
        const taken = new Map<number, number>()
        const sent = new Map<number, number[]>()
        /** The server fails for each event whose sequence it divides; not at all while it is null. */
        let failing: number | null = null
        /** Whether nothing was taken since the server failed. */
        let isDown = false
        world.answer = ({ body, at }) => {
          const sequence = sequenceOf(body)
          sent.set(sequence, [...(sent.get(sequence) ?? []), at])
          if (failing !== null && sequence % failing === 0) return NO
          if (refused.has(sequence)) return REFUSED
          taken.set(sequence, at)
          isDown = failing !== null
          return OK
        }
        const check = async () => {
          const { next = after + 1, retries = {}, givenUp = [], givenUpBefore = 0 } = (await world.state()) ?? {}
          const places = [
            ...taken.keys(),
            ...Object.keys(retries).map(Number),
            ...givenUp.map(({ sequence }) => sequence),
            ...Array.from({ length: last + 1 - next }, (_, index) => next + index),
          ]
          expect(givenUpBefore).toBe(0)
          expect(places.sort((a, b) => a - b)).toEqual(upTo(last - after).map((index) => after + index))
          for (const moments of sent.values()) {
            expect(moments.length).toBeLessThanOrEqual(10)
            for (const [index, pause] of PAUSES.entries()) {
              const [at, again] = [moments[index], moments[index + 1]]
              if (at !== undefined && again !== undefined) expect(again - at).toBeGreaterThanOrEqual(pause)
            }
          }
        }
        for (const one of steps) {
          if (one.do === 'add') {
            const added = one.kinds.map((isRefused, index) => ({ sequence: last + 1 + index, isRefused }))
            for (const { sequence, isRefused } of added) if (isRefused) refused.add(sequence)
            await world.add(last + 1, added.length)
            last += added.length
            await world.deliver()
            const [webhook] = await world.webhooks.list(CLIENT)
            if (!isDown && !webhook?.disabledAt) {
              for (const { sequence, isRefused } of added) if (!isRefused) expect(taken.get(sequence)).toBe(world.now())
            }
          }
          if (one.do === 'pass') {
            const until = world.now() + one.minutes * MINUTE
            await world.drain(one.minutes * MINUTE)
            world.pass(until - world.now())
          }
          if (one.do === 'fail') [failing, isDown] = [one.of, true]
          if (one.do === 'mend') failing = null
          if (one.do === 'test') await world.resume('rest')
          if (one.do === 'resume') {
            sent.clear()
            await world.webhooks.enable(CLIENT, world.webhook)
            await world.resume()
          }
          await check()
        }
      }),
      { numRuns: runs(12) },
    )
  })
})
