import fc from 'fast-check'
import { describe, expect, vi } from 'vitest'
import { listWebhookSecrets } from '../../../lib/webhooks/secret.ts'
import type { SendResult } from '../../../lib/webhooks/sent.ts'
import {
  CLOCK_START,
  createDeliveries,
  DELIVERED,
  FAILED_WITH_404,
  FAILED_WITH_500,
  type ReceivedDelivery,
  SECRET_DERIVATION_KEY,
} from '../../support/deliveries.ts'
import { test as base } from '../../support/dynamo.ts'
import { captureLogs } from '../../support/logs.ts'
import { scaleSampleCount } from '../../support/runs.ts'
import { verifyDelivery } from '../../support/webhook-signatures.ts'
import { createCrashingGate, PASSING_GATE, someWebhookEvent } from '../../support/webhooks.ts'

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]
const PAUSES = [5 * SECOND, 5 * MINUTE, HOUR, ...Array.from({ length: 6 }, () => 12 * HOUR)].map(
  (ms) => Math.ceil((ms * 0.98) / SECOND) * SECOND,
)
const BUSY: SendResult = { delivered: false, reason: 'status', status: 429, retryAfterMs: MINUTE }
const GONE: SendResult = { delivered: false, reason: 'status', status: 410 }

const test = base.extend('world', ({ memory }) => createDeliveries(memory))

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** Each test case gets a client of its own, because all test cases share one table. */
let clients = 0

function pausesOf(received: readonly ReceivedDelivery[], sequence: number): number[] {
  const attempts = received.filter((one) => one.sequence === sequence).map(({ at }) => at)
  return attempts.slice(1).map((at, index) => at - (attempts[index] ?? at))
}

describe('A webhook', () => {
  test('gets the exact bytes of a logged event, signed by each of its secrets', async ({ world }) => {
    const until = new Date(CLOCK_START + HOUR)
    const webhook = await world.register({ secret: { version: 'two', before: { version: 'one', until } } })
    await world.publish(1)
    await world.drain()
    const [delivery] = world.received
    const [logged] = await world.log.list('clientAAAA', { after: 0, limit: 1, now: CLOCK_START })
    expect(JSON.parse(delivery?.body ?? '')).toMatchObject({ id: logged?.event.id, sequence: 1, data: { assets: '1' } })
    const secrets = listWebhookSecrets([SECRET_DERIVATION_KEY], 'clientAAAA', webhook, CLOCK_START)
    expect(secrets).toHaveLength(2)
    const { headers = {}, body = '' } = delivery ?? {}
    // The verifying library compares the delivery's time with the system clock, so the test sets the system clock.
    vi.setSystemTime(CLOCK_START)
    for (const secret of secrets) expect(verifyDelivery({ headers, body }, secret)).toEqual(JSON.parse(body))
    vi.useRealTimers()
  })

  test('gets ten events with three reads of the table and no writes', async ({ world, requests }) => {
    await world.register()
    await world.publish(10)
    requests.length = 0
    await world.drain()
    expect(world.sequences()).toEqual(upTo(10))
    expect(requests).toEqual(['BatchGetItem', 'BatchGetItem', 'BatchGetItem'])
  })

  test('gets only events of its types, from its registration on', async ({ world }) => {
    await world.register({ types: ['withdrawal.completed'], url: 'https://receiver.example/other' })
    const webhook = await world.register({ types: ['deposit.completed'], after: 2 })
    await world.publish(4)
    await world.drain()
    expect(world.received.map(({ webhookId, sequence }) => [webhookId, sequence])).toEqual([
      [webhook.id, 3],
      [webhook.id, 4],
    ])
  })

  test('that is removed or disabled gets no more events', async ({ world }) => {
    const webhook = await world.register()
    await world.publish(1)
    await world.webhooks.replace('clientAAAA', webhook, {
      ...webhook,
      ...{
        disabledAt: new Date(CLOCK_START),
        disabledReason: 'failing',
        behind: { from: 1, probeAt: CLOCK_START, isLive: false },
      },
    })
    await world.drain()
    await world.webhooks.remove('clientAAAA', webhook.id)
    await world.publish(1)
    await world.drain()
    expect(world.received).toEqual([])
  })

  test('that is registered again at the same URL has no earlier attempts', async ({ world }) => {
    const webhook = await world.register()
    world.respond = () => FAILED_WITH_404
    await world.publish(1)
    await world.drain(MINUTE)
    expect((await world.attempts(webhook)).waiting).toHaveProperty('1')
    const again = { ...webhook, createdAt: new Date(CLOCK_START + 1), after: 1 }
    expect((await world.attempts(again)).waiting).toEqual({})
  })
})

describe('A webhook whose server is down', () => {
  test('is behind after two consecutive failures: no more is queued, with one probe each five minutes', async ({
    world,
  }) => {
    const webhook = await world.register()
    world.respond = () => FAILED_WITH_500
    await world.publish(1)
    await world.drain(SECOND)
    expect(world.queue()).toHaveLength(1)
    expect((await world.webhook())?.behind).toBeUndefined()
    await world.publish(3)
    await world.drain(MINUTE)
    expect((await world.webhook())?.behind).toMatchObject({ from: 1 })
    expect(world.queue()).toHaveLength(1)
    await world.publish(500)
    expect(world.queue()).toHaveLength(1)
    const before = world.received.length
    await world.drain(HOUR)
    expect(world.received.length - before).toBeLessThanOrEqual(12)
    expect(world.received.slice(before).map(({ sequence }) => sequence)).toEqual(
      Array(world.received.length - before).fill(1),
    )
    expect((await world.attempts(webhook)).waiting).toEqual({})
  })

  test('is not behind after a failure, a success and a failure', async ({ world }) => {
    await world.register()
    for (const sent of [FAILED_WITH_500, DELIVERED, FAILED_WITH_500]) {
      world.respond = () => sent
      await world.publish(1)
      await world.drain(SECOND)
    }
    expect(await world.webhook()).not.toHaveProperty('behind')
  })

  test('is behind immediately while a hundred refused events wait', async ({ world }) => {
    await world.register()
    world.respond = () => FAILED_WITH_404
    for (let published = 0; published < 100; published += 50) {
      await world.publish(50)
      await world.drain(SECOND)
    }
    world.respond = () => FAILED_WITH_500
    await world.publish(1)
    await world.take()
    expect((await world.webhook())?.behind).toMatchObject({ from: 101 })
  })

  test('keeps its position if two functions find it down in parallel', async ({ world }) => {
    await world.register()
    await world.publish(20)
    let other: Promise<void> | undefined
    world.respond = async ({ sequence }) => {
      // A parallel function fails to deliver events 11 to 20 while this function sends the first ten events.
      if (sequence <= 10) {
        other ??= world.take()
        await other
      }
      return FAILED_WITH_500
    }
    await world.take()
    expect((await world.webhook())?.behind).toMatchObject({ from: 1 })
    world.respond = () => DELIVERED
    await world.drain(HOUR)
    expect(world.sequences()).toEqual(upTo(20))
  })

  test('catches up despite occasional failures', async ({ world }) => {
    await world.register()
    world.respond = () => FAILED_WITH_500
    await world.publish(300)
    await world.drain(SECOND)
    let sent = 0
    world.respond = () => {
      sent += 1
      return sent % 7 === 0 ? FAILED_WITH_500 : DELIVERED
    }
    await world.drain(HOUR)
    expect(world.sequences()).toEqual(upTo(300))
    expect(await world.webhook()).not.toHaveProperty('behind')
  })

  test('gets all missed events once it takes one, and is live again', async ({ world }) => {
    await world.register()
    world.respond = () => FAILED_WITH_500
    await world.publish(3)
    await world.drain(MINUTE)
    await world.publish(250)
    world.respond = () => DELIVERED
    await world.drain(5 * MINUTE)
    expect(world.sequences()).toEqual(upTo(253))
    expect((await world.webhook())?.behind).toBeUndefined()
    await world.publish(1)
    await world.drain(SECOND)
    expect(world.received.at(-1)?.sequence).toBe(254)
  })

  test('is disabled after three days, and a test resumes it with all missed events', async ({ world }) => {
    const webhook = await world.register()
    world.respond = () => FAILED_WITH_500
    await world.publish(2)
    await world.drain(3 * DAY - HOUR)
    expect((await world.webhook())?.disabledAt).toBeUndefined()
    await world.drain(2 * HOUR)
    expect(await world.webhook()).toMatchObject({ disabledReason: 'failing', behind: { from: 1 } })
    expect(world.queue()).toEqual([])
    await world.publish(5)
    expect(world.queue()).toEqual([])
    world.respond = () => DELIVERED
    world.received.length = 0
    await world.resume(webhook, true)
    await world.drain(MINUTE)
    expect(world.sequences()).toEqual(upTo(7))
    expect(await world.webhook()).not.toHaveProperty('disabledAt')
  })

  test('gets no requests until its retry-after, but at most for a day', async ({ world }) => {
    await world.register()
    for (const [sent, pause] of [
      [{ ...FAILED_WITH_500, status: 429, retryAfterMs: 2 * HOUR }, 2 * HOUR],
      [{ ...FAILED_WITH_500, status: 429, retryAfterMs: SECOND }, MINUTE],
      [{ ...FAILED_WITH_500, status: 502 }, MINUTE],
      [{ ...FAILED_WITH_404, retryAfterMs: 7 * DAY }, DAY],
      [{ ...FAILED_WITH_500, status: 503 }, 5 * MINUTE],
    ] as const) {
      world.received.length = 0
      world.respond = () => sent
      await world.publish(2)
      await world.drain(SECOND)
      const { length } = world.received
      expect(length).toBe(2)
      world.respond = () => DELIVERED
      await world.drain(pause - 2 * SECOND)
      expect(world.received).toHaveLength(length)
      await world.drain(10 * SECOND)
      expect(world.received.length).toBeGreaterThanOrEqual(length + 2)
      expect((await world.webhook())?.behind).toBeUndefined()
    }
  })

  test('is disabled immediately by the status 410', async ({ world }) => {
    await world.register()
    world.respond = () => GONE
    await world.publish(1)
    await world.drain()
    expect(await world.webhook()).toMatchObject({ disabledReason: 'gone' })
    expect(world.received).toHaveLength(1)
  })

  test('is logged each time with the reason, without its URL', async ({ world }) => {
    const { lines, text } = captureLogs()
    const webhook = await world.register({ url: 'https://receiver.example/hunter2' })
    world.respond = () => FAILED_WITH_500
    await world.publish(2)
    await world.drain(MINUTE)
    expect(lines).toMatchObject([
      {
        level: 'WARN',
        message: 'deliveries failed',
        webhookId: webhook.id,
        failed: 2,
        of: 2,
        reason: 'status',
        status: 500,
      },
    ])
    expect(text()).not.toContain('hunter2')
  })

  test('is probed immediately by a test, and again each five minutes', async ({ world }) => {
    const webhook = await world.register()
    world.respond = () => FAILED_WITH_500
    await world.publish(2)
    await world.drain(SECOND)
    world.received.length = 0
    await world.resume(webhook, false)
    await world.drain(3 * SECOND)
    expect(world.received).toHaveLength(1)
    await world.drain(HOUR)
    expect(world.received.length).toBeLessThanOrEqual(13)
  })
})

describe('An event that a server refuses', () => {
  test('is sent ten times in three days, delays no other, and is then given up', async ({ world }) => {
    const webhook = await world.register()
    world.respond = ({ sequence }) => (sequence === 1 ? FAILED_WITH_404 : DELIVERED)
    await world.publish(3)
    await world.drain(DAY)
    await world.publish(1)
    await world.drain(SECOND)
    expect(world.sequences()).toEqual([1, 2, 3, 4])
    await world.drain()
    expect(pausesOf(world.received, 1)).toEqual(PAUSES)
    expect(world.received.filter(({ sequence }) => sequence > 1)).toHaveLength(3)
    const attempts = await world.attempts(webhook)
    expect(attempts).toMatchObject({ waiting: {}, givenUp: [{ sequence: 1 }], givenUpBefore: 0 })
    expect((await world.webhook())?.disabledAt).toBeUndefined()
  })

  test('is given up immediately while a hundred others wait, and the last hundred are listed', async ({ world }) => {
    const webhook = await world.register()
    world.respond = () => FAILED_WITH_404
    for (let published = 0; published < 250; published += 50) {
      await world.publish(50)
      await world.drain(SECOND)
    }
    expect(world.queue()).toHaveLength(100)
    const { waiting, givenUp, givenUpBefore } = await world.attempts(webhook)
    expect([Object.keys(waiting).length, givenUp.length, givenUpBefore]).toEqual([100, 100, 50])
    world.respond = ({ sequence }) => (sequence > 250 ? DELIVERED : FAILED_WITH_404)
    await world.publish(1)
    await world.drain(SECOND)
    expect(world.sequences()).toEqual(upTo(251))
  })

  test('like all others disables the webhook after three days, and a test sends them again', async ({ world }) => {
    const webhook = await world.register()
    world.respond = () => FAILED_WITH_404
    for (let day = 0; day < 3; day += 1) {
      await world.publish(1)
      await world.drain(DAY)
    }
    expect((await world.webhook())?.disabledAt).toBeUndefined()
    await world.drain(DAY)
    expect(await world.webhook()).toMatchObject({ disabledReason: 'failing' })
    world.respond = () => DELIVERED
    world.received.length = 0
    await world.resume(webhook, true)
    await world.drain()
    expect(world.sequences()).toEqual([1, 2, 3])
    expect(await world.attempts(webhook)).toMatchObject({ waiting: {}, givenUp: [] })
  })

  test('waits while its server is down, and is sent only itself afterwards', async ({ world }) => {
    await world.register()
    world.respond = ({ sequence }) => (sequence === 1 ? FAILED_WITH_404 : DELIVERED)
    await world.publish(10)
    await world.drain(SECOND)
    world.respond = () => FAILED_WITH_500
    await world.publish(20)
    await world.drain(MINUTE)
    expect((await world.webhook())?.behind).toMatchObject({ from: 11 })
    world.respond = () => DELIVERED
    world.received.length = 0
    await world.drain()
    expect(world.sequences()).toEqual([1, ...upTo(30).slice(10)])
    expect(world.received.filter(({ sequence }) => sequence === 1)).toHaveLength(1)
  })

  test('in a probe is sent again without the others, which continue', async ({ world }) => {
    await world.register()
    world.respond = () => FAILED_WITH_500
    await world.publish(30)
    await world.drain(SECOND)
    world.respond = ({ sequence }) => (sequence % 7 === 1 ? FAILED_WITH_404 : DELIVERED)
    world.received.length = 0
    await world.drain(10 * MINUTE)
    expect(world.sequences()).toEqual(upTo(30))
    world.respond = () => DELIVERED
    await world.drain()
    const taken = world.received.filter(({ sequence }) => sequence % 7 !== 1)
    expect(taken).toHaveLength(25)
    expect((await world.webhook())?.behind).toBeUndefined()
  })

  test('in a probe waits if the server fails again, and no other event is sent again', async ({ world }) => {
    await world.register()
    world.respond = () => FAILED_WITH_500
    await world.publish(30)
    await world.drain(SECOND)
    world.respond = ({ sequence }) => (sequence === 3 ? FAILED_WITH_404 : sequence > 20 ? FAILED_WITH_500 : DELIVERED)
    world.received.length = 0
    await world.drain(20 * MINUTE)
    expect(world.received.filter(({ sequence }) => sequence <= 20 && sequence !== 3)).toHaveLength(19)
    world.respond = () => DELIVERED
    await world.drain()
    expect(world.sequences()).toEqual(upTo(30))
    expect(world.received.filter(({ sequence }) => sequence === 1)).toHaveLength(1)
  })

  test('has ten attempts, however often its message was received while its webhook was behind', async ({ world }) => {
    await world.register()
    world.respond = ({ sequence }) => (sequence === 1 ? FAILED_WITH_404 : DELIVERED)
    await world.publish(10)
    await world.drain(SECOND)
    world.respond = () => FAILED_WITH_500
    await world.publish(20)
    await world.drain(2 * DAY)
    world.respond = ({ sequence }) => (sequence === 1 ? FAILED_WITH_404 : DELIVERED)
    await world.drain()
    expect(world.received.filter(({ sequence }) => sequence === 1)).toHaveLength(10)
  })

  test('has ten attempts, despite earlier faults of the service', async ({ world }) => {
    await world.register()
    await world.publish(1)
    for (let faults = 0; faults < 12; faults += 1) {
      await world.take(createCrashingGate(0).gate).catch(() => {})
      world.pass(HOUR)
    }
    world.respond = () => FAILED_WITH_404
    await world.drain()
    expect(world.received).toHaveLength(10)
  })

  test('waits while its server is down for days, and is sent when a test resumes the webhook', async ({ world }) => {
    const webhook = await world.register()
    world.respond = ({ sequence }) => (sequence === 1 ? FAILED_WITH_404 : DELIVERED)
    await world.publish(10)
    await world.drain(SECOND)
    world.respond = () => FAILED_WITH_500
    await world.publish(20)
    await world.drain(4 * DAY)
    world.respond = () => DELIVERED
    world.received.length = 0
    await world.resume(webhook, true)
    await world.drain()
    expect(world.sequences()).toEqual([1, ...upTo(30).slice(10)])
  })

  test('in a long probe is sent again', async ({ world }) => {
    await world.register()
    world.respond = () => FAILED_WITH_500
    await world.publish(100)
    await world.drain(SECOND)
    const refused = new Set<number>()
    world.respond = ({ sequence }) => {
      world.pass(200)
      if (sequence !== 3 || refused.has(3)) return DELIVERED
      refused.add(3)
      return FAILED_WITH_404
    }
    world.received.length = 0
    await world.drain()
    expect(world.received.filter(({ sequence }) => sequence === 3)).toHaveLength(2)
  })

  test('is signed by both secrets at its next attempt after a rotation', async ({ world }) => {
    const webhook = await world.register()
    world.respond = () => FAILED_WITH_404
    await world.publish(1)
    await world.drain(SECOND)
    const until = new Date(CLOCK_START + DAY)
    const secret = { version: 'two', before: { version: 'one', until } }
    await world.webhooks.change(world.keyOf(webhook), (current) => ({ ...current, secret }))
    await world.drain(MINUTE)
    const [first, second] = world.received
    expect(second?.body).toBe(first?.body)
    const { headers = {}, body = '', at = 0 } = second ?? {}
    vi.setSystemTime(at)
    for (const one of listWebhookSecrets([SECRET_DERIVATION_KEY], 'clientAAAA', { ...webhook, secret }, at)) {
      expect(verifyDelivery({ headers, body }, one)).toEqual(JSON.parse(body))
    }
    vi.useRealTimers()
  })

  test('and that is given up is sent again and unlisted when an operator resumes the webhook', async ({ world }) => {
    const webhook = await world.register()
    world.respond = () => FAILED_WITH_404
    await world.publish(1)
    await world.drain()
    world.respond = () => DELIVERED
    await world.resume(webhook, true)
    await world.drain()
    expect(world.received.at(-1)).toMatchObject({ sequence: 1 })
    expect(world.received).toHaveLength(11)
    expect(await world.attempts(webhook)).toMatchObject({ givenUp: [], waiting: {} })
  })
})

describe('A probe', () => {
  test('stops after ten seconds, and another message continues', async ({ world }) => {
    await world.register()
    world.respond = () => FAILED_WITH_500
    await world.publish(300)
    await world.drain(SECOND)
    world.respond = () => {
      world.pass(150)
      return DELIVERED
    }
    world.received.length = 0
    await world.drain(5 * MINUTE)
    expect(new Set(world.received.map(({ sequence }) => sequence)).size).toBeLessThan(300)
    await world.drain()
    expect(world.sequences()).toEqual(upTo(300))
    expect((await world.webhook())?.behind).toBeUndefined()
  })

  test('runs once at a time, however often it is requested', async ({ world }) => {
    const webhook = await world.register()
    world.respond = () => FAILED_WITH_500
    await world.publish(2)
    await world.drain(SECOND)
    for (let attempt = 0; attempt < 5; attempt += 1) await world.resume(webhook, false)
    world.received.length = 0
    await world.drain(HOUR)
    expect(world.received.length).toBeLessThanOrEqual(14)
    expect(world.queue()).toHaveLength(1)
  })
})

describe('Whatever happens,', () => {
  test('each event is sent at least once if a function is killed anywhere', async ({ world, memory: _ }) => {
    const webhook = await world.register()
    for (let passed = 0, isOver = false; !isOver; passed += 1) {
      const before = world.sequences().at(-1) ?? 0
      world.respond = ({ sequence }) => (sequence === before + 1 ? FAILED_WITH_500 : DELIVERED)
      await world.publish(3)
      const { gate, count } = createCrashingGate(passed)
      await world.take(gate).catch(() => {})
      isOver = count() <= passed
      world.respond = () => DELIVERED
      await world.drain()
      expect(world.sequences()).toEqual(upTo(before + 3))
      expect(await world.webhook(webhook.id)).not.toHaveProperty('behind')
    }
  })

  test('a webhook that falls behind gets each event if the function is killed anywhere', async ({ world }) => {
    await world.register()
    for (let passed = 0, isOver = false; !isOver; passed += 1) {
      const before = world.sequences().at(-1) ?? 0
      world.respond = () => FAILED_WITH_500
      await world.publish(12)
      const { gate, count } = createCrashingGate(passed)
      await world.take(gate).catch(() => {})
      isOver = count() <= passed
      await world.publish(1)
      world.respond = () => DELIVERED
      world.received.length = 0
      await world.drain()
      expect(world.sequences()).toEqual(upTo(before + 13).slice(before))
      expect(await world.webhook()).not.toHaveProperty('behind')
    }
  })

  test('a webhook gets a late message’s event while a probe is at later events', async ({ world }) => {
    const webhook = await world.register()
    await world.publish(20)
    const probeAt = world.clock()
    await world.webhooks.replace('clientAAAA', webhook, { ...webhook, behind: { from: 11, probeAt, isLive: false } })
    const late = world.queue().map(({ message }) => message)
    world.queue().length = 0
    await world.enqueue([{ ...world.keyOf(webhook), probeAt }])
    let sent = 0
    world.respond = async () => {
      sent += 1
      if (sent === 2) {
        await world.enqueue(late.slice(0, 10))
        await world.take()
      }
      return DELIVERED
    }
    await world.take()
    await world.drain()
    expect(world.sequences()).toEqual(upTo(20))
    expect(await world.webhook()).not.toHaveProperty('behind')
  })

  test('a webhook gets events of a killed function, even if it is disabled meanwhile', async ({ world }) => {
    for (let passed = 0; passed < 8; passed += 1) {
      const before = world.sequences().at(-1) ?? 0
      const webhook = (await world.webhook()) ?? (await world.register())
      await world.publish(20)
      await world.take(createCrashingGate(passed).gate).catch(() => {})
      world.respond = () => GONE
      await world.take()
      await world.drain()
      world.respond = () => DELIVERED
      world.received.length = 0
      await world.resume(webhook, true)
      await world.drain()
      expect(world.sequences()).toEqual(upTo(before + 20).slice(before))
    }
  })

  test('a webhook gets late messages’ events while its probe ends', async ({ world }) => {
    const webhook = await world.register()
    await world.publish(20)
    const probeAt = world.clock()
    await world.webhooks.replace('clientAAAA', webhook, { ...webhook, behind: { from: 11, probeAt, isLive: false } })
    const late = world.queue().map(({ message }) => message)
    for (let at = 1; at < 6; at += 1) {
      world.queue().length = 0
      await world.enqueue(late.slice(0, 10))
      let requests = 0
      await world.take(async (request) => {
        requests += 1
        if (requests === at) {
          await world.enqueue([{ ...world.keyOf(webhook), probeAt }])
          await world.take()
        }
        return await request()
      })
      await world.drain()
    }
    expect(world.sequences()).toEqual(upTo(20))
  })

  test('a webhook whose attempts cannot be stored delays no other', async ({ world, memory }) => {
    const [one, other] = [
      await world.register({ url: 'https://receiver.example/one' }),
      await world.register({ url: 'https://receiver.example/other' }),
    ]
    world.respond = ({ webhookId }) => (webhookId === one.id ? FAILED_WITH_500 : DELIVERED)
    memory.fails = ({ action, body }) => action === 'UpdateItem' && body.includes(one.id)
    captureLogs()
    await world.publish(2)
    await world.take()
    memory.fails = undefined
    expect(world.queue().map(({ message }) => message.webhookId)).toEqual([one.id, one.id])
    expect(world.sequences(other)).toEqual([1, 2])
  })

  test('a webhook that becomes live misses no event published meanwhile, and gets few twice', async ({ world }) => {
    await world.register()
    for (let at = 1, requests = at; requests >= at; at += 1) {
      const before = world.sequences().at(-1) ?? 0
      world.respond = () => FAILED_WITH_500
      await world.publish(2)
      await world.take()
      world.respond = () => DELIVERED
      world.received.length = 0
      world.pass(5 * MINUTE)
      requests = 0
      await world.take(async (request) => {
        requests += 1
        if (requests === at) await world.publish(1)
        return await request()
      })
      const published = requests >= at ? 3 : 2
      await world.drain()
      expect(world.sequences()).toEqual(upTo(before + published).slice(before))
      expect(world.received.length).toBeLessThanOrEqual(published + 1)
      expect(await world.webhook()).not.toHaveProperty('behind')
    }
  })

  test('a webhook that a test resumes gets each event if the test is killed anywhere', async ({ world }) => {
    const webhook = await world.register()
    for (let passed = 0, isOver = false; !isOver; passed += 1) {
      const before = world.sequences().at(-1) ?? 0
      world.respond = ({ sequence }) => (sequence % 3 === 0 ? GONE : FAILED_WITH_404)
      await world.publish(3)
      await world.drain()
      expect(await world.webhook()).toMatchObject({ disabledReason: 'gone' })
      await world.publish(3)
      world.respond = () => DELIVERED
      world.received.length = 0
      const { gate, count } = createCrashingGate(passed)
      await world.resume(webhook, true, gate).catch(() => {})
      isOver = count() <= passed
      if (!isOver) await world.resume(webhook, true)
      await world.drain()
      expect(world.sequences()).toEqual(upTo(before + 6).slice(before))
      expect(await world.webhook()).not.toHaveProperty('disabledAt')
    }
  })

  test('a webhook that is behind gets each event if its probe is killed anywhere', async ({ world }) => {
    await world.register()
    for (let passed = 0, isOver = false; !isOver; passed += 1) {
      const before = world.sequences().at(-1) ?? 0
      world.respond = () => FAILED_WITH_500
      await world.publish(25)
      await world.take()
      world.respond = () => DELIVERED
      world.received.length = 0
      world.pass(5 * MINUTE)
      const { gate, count } = createCrashingGate(passed)
      await world.take(gate).catch(() => {})
      isOver = count() <= passed
      await world.publish(1)
      await world.drain()
      expect(world.sequences()).toEqual(upTo(before + 26).slice(before))
      expect(await world.webhook()).not.toHaveProperty('behind')
    }
  })

  test('each event is finally taken or given up, with any responses, kills, tests and queue faults', async ({
    memory,
  }) => {
    const response = fc.constantFrom<SendResult>(
      DELIVERED,
      DELIVERED,
      DELIVERED,
      FAILED_WITH_500,
      FAILED_WITH_404,
      BUSY,
    )
    const step = fc.oneof(
      fc.record({ do: fc.constant('publish' as const), count: fc.integer({ min: 1, max: 15 }) }),
      fc.record({ do: fc.constant('take' as const), kill: fc.option(fc.nat(30)) }),
      fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(SECOND, 6 * SECOND, 6 * MINUTE, 2 * HOUR) }),
      fc.record({ do: fc.constant('test' as const) }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(response, { minLength: 30, maxLength: 30 }),
        fc.array(step, { maxLength: 30 }),
        fc.array(fc.nat(1000), { minLength: 200, maxLength: 200 }),
        async (responses, steps, choices) => {
          const chosen = choices.values()
          clients += 1
          const choose = (below: number) => (chosen.next().value ?? 0) % below
          const world = createDeliveries(memory, { choose, clientId: `client${clients}` })
          const webhook = await world.register()
          const taken = new Set<number>()
          let sent = 0
          world.respond = ({ sequence }) => {
            const of = responses[sent % responses.length] ?? DELIVERED
            sent += 1
            if (of.delivered) taken.add(sequence)
            return of
          }
          let published = 0
          for (const one of steps) {
            if (one.do === 'publish') {
              await world.publish(one.count)
              published += one.count
            } else if (one.do === 'take') {
              await world.take(one.kill === null ? PASSING_GATE : createCrashingGate(one.kill).gate).catch(() => {})
            } else if (one.do === 'pass') world.pass(one.ms)
            else await world.resume(webhook, false)
          }
          world.respond = ({ sequence }) => {
            taken.add(sequence)
            return DELIVERED
          }
          await world.drain()
          const { givenUp, givenUpBefore } = await world.attempts(webhook)
          const done = new Set([...taken, ...givenUp.map(({ sequence }) => sequence)])
          expect([givenUpBefore, [...done].toSorted((one, other) => one - other)]).toEqual([0, upTo(published)])
          expect(await world.webhook()).not.toHaveProperty('behind')
        },
      ),
      { numRuns: scaleSampleCount(60) },
    )
  })

  test('a message for an expired event is dropped', async ({ world }) => {
    await world.register()
    await world.publish([someWebhookEvent('only')])
    world.pass(31 * DAY)
    await world.drain()
    expect(world.queue()).toEqual([])
  })
})
