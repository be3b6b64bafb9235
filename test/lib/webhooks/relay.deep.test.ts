import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { createTable } from '../../../lib/aws/table.ts'
import type { Notice } from '../../../lib/webhooks/event.ts'
import { buildEventId, buildWebhookId } from '../../../lib/webhooks/ids.ts'
import { eventLogStore } from '../../../lib/webhooks/log-store.ts'
import { publish } from '../../../lib/webhooks/publish.ts'
import { relayEvents } from '../../../lib/webhooks/relay.ts'
import { webhooksStore } from '../../../lib/webhooks/store.ts'
import type { Webhook } from '../../../lib/webhooks/webhook.ts'
import { test as base } from '../../support/dynamo.ts'
import type { Connection } from '../../support/memory-dynamo.ts'
import { runs } from '../../support/runs.ts'
import { TEST_TABLES } from '../../support/tables.ts'
import { type Gate, gated, interleave, killedAfter, passing, someNotice } from '../../support/webhooks.ts'

const [CLIENT, OTHER] = ['clientAAAA', 'clientBBBB']
const NOW = Date.parse('2026-11-02T00:00:00.000Z')

/** A client's webhook, registered when its log was empty. */
function someWebhook(overrides: Partial<Webhook> = {}): Webhook {
  const url = overrides.url ?? 'https://receiver.example/'
  return {
    id: buildWebhookId(CLIENT, url),
    url,
    types: null,
    finality: 'final',
    secret: { version: 'one' },
    createdAt: new Date(NOW),
    after: 0,
    ...overrides,
  }
}

/** What publishes and relays with a table and two queues, of which both wait at a gate. */
function system({ dynamo }: Connection) {
  const open = (gate: Gate = passing) => createTable(gated(dynamo, gate), TEST_TABLES.webhooks)
  const wakes: { readonly clientId: string; readonly webhookId: string; readonly logged: number }[] = []
  const relays: string[] = []
  const log = eventLogStore(open())
  const list = (clientId: string, now = NOW) => log.list(clientId, { after: 0, limit: 1000, now })
  const at = (gate: Gate, now = NOW) => ({
    eventLog: eventLogStore(open(gate)),
    webhooks: webhooksStore(open(gate)),
    now: () => now,
    wakeRelays: (messages: readonly { clientId: string }[]) =>
      gate(async () => {
        relays.push(...messages.map(({ clientId }) => clientId))
      }),
    wakeDeliveries: (messages: readonly { clientId: string; webhookId: string }[]) =>
      gate(async () => {
        const logged = messages[0] ? (await list(messages[0].clientId)).length : 0
        wakes.push(...messages.map((message) => ({ ...message, logged })))
      }),
  })
  return {
    log,
    webhooks: webhooksStore(open()),
    wakes,
    relays,
    list,
    publish: (notices: readonly Notice[], clientIds = [CLIENT], gate = passing, now = NOW) =>
      publish(at(gate, now), notices, () => clientIds),
    relay: (clientId = CLIENT, gate = passing, now = NOW) => relayEvents(at(gate, now), clientId),
  }
}

const test = base.extend('events', ({ memory }) => system(memory))

const keysOf = (count: number, prefix = 'key') =>
  Array.from({ length: count }, (_, index) => `${prefix}-${`${index}`.padStart(4, '0')}`)
const idsOf = (clientId: string, keys: readonly string[]) => keys.map((key) => buildEventId(clientId, key))

/** Three notices that fill two pages: as they are too large for one. */
const LARGE = keysOf(3).map((key, index) =>
  someNotice(key, { timestamp: new Date(NOW - 1000 + index), data: { depositIds: ['x'.repeat(70_000)] } }),
)
const LARGE_KEYS = LARGE.map(({ key }) => key)

/** A new log for each try, in one table. */
let tries = 0
function someClientId(): string {
  tries += 1
  return `client${`${tries}`.padStart(4, '0')}`
}

describe('A log', () => {
  test('has each event once, in the order in which things happened, with the numbers 1, 2, 3 and so on', async ({
    events,
  }) => {
    const keys = keysOf(120)
    const notices = keys.map((key, index) => someNotice(key, { timestamp: new Date(NOW + Math.floor(index / 7)) }))
    await events.publish(notices.toReversed())
    await events.relay()
    await events.publish(notices)
    await events.relay()
    const log = await events.list(CLIENT)
    expect(log.map(({ id }) => id)).toEqual(idsOf(CLIENT, keys))
    expect(log.map(({ sequence }) => sequence)).toEqual(keys.map((_, index) => index + 1))
    expect(await events.log.listPending(CLIENT)).toEqual([])
  })

  test('tells each client by ids of its own', async ({ events }) => {
    const keys = keysOf(2)
    await events.publish(
      keys.map((key) => someNotice(key)),
      [CLIENT, OTHER],
    )
    expect(events.relays.toSorted()).toEqual([CLIENT, OTHER])
    for (const clientId of [CLIENT, OTHER]) {
      await events.relay(clientId)
      expect((await events.list(clientId)).map(({ id }) => id)).toEqual(idsOf(clientId, keys))
    }
    expect(idsOf(CLIENT, keys)).not.toEqual(idsOf(OTHER, keys))
  })

  test('costs a client, of each event, a mark, and of fifty four writes more', async ({ events, requests }) => {
    requests.length = 0
    await events.publish(keysOf(100).map((key) => someNotice(key)))
    await events.relay()
    const count = (name: string) => requests.filter((request) => request === name).length
    expect(count('BatchWriteItem')).toBe(8)
    expect(count('PutItem') + count('UpdateItem')).toBe(4)
    expect(requests).toHaveLength(12 + 12)
  })

  test('does not have what is not final before somebody asks for it', async ({ events }) => {
    const [first, second] = keysOf(2).map((key) => someNotice(key, { final: false }))
    await events.publish([first as Notice])
    await events.webhooks.add(CLIENT, someWebhook({ finality: 'latest' }))
    expect(await events.publish([second as Notice], [CLIENT, OTHER])).toBe(1)
    await events.relay()
    expect((await events.list(CLIENT)).map(({ id }) => id)).toEqual(idsOf(CLIENT, ['key-0001']))
  })

  test('is listed a megabyte at a time, and no event is left out', async ({ events }) => {
    const large = keysOf(8).map((key) => someNotice(key, { data: { depositIds: ['x'.repeat(190 * 1024)] } }))
    await events.publish(large)
    await events.relay()
    const first = await events.list(CLIENT)
    const second = await events.log.list(CLIENT, { after: first.length, limit: 100, now: NOW })
    expect([first.length, second.length]).toEqual([5, 3])
    expect([...first, ...second].map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  test('forgets what is thirty days old, whenever the table deletes it', async ({ events }) => {
    const month = 30 * 86_400_000
    await events.publish([someNotice('key-0000')])
    await events.relay()
    await events.publish([someNotice('key-0001')], [CLIENT], passing, NOW + month - 1000)
    await events.relay(CLIENT, passing, NOW + month - 1000)
    expect(await events.list(CLIENT, NOW + month - 1000)).toHaveLength(2)
    expect((await events.list(CLIENT, NOW + month)).map(({ sequence }) => sequence)).toEqual([2])
  })

  test('never has what waited for longer than it is known to be logged', async ({ events }) => {
    await events.publish([someNotice('key-0000')])
    await events.relay(CLIENT, passing, NOW + 30 * 86_400_000)
    expect(await events.list(CLIENT, NOW)).toEqual([])
    expect(await events.log.listPending(CLIENT)).toEqual([])
  })
})

describe('Publishing', () => {
  test('has what one call tells wait in order, whenever a relay looks between its writes', async ({ events }) => {
    // In three items: fifty, ten, and two that are too large for one.
    const keys = keysOf(62)
    const notices = keys.map((key, index) =>
      someNotice(key, {
        timestamp: new Date(NOW - 1000 + index),
        ...(index >= 60 && { data: { depositIds: ['x'.repeat(110_000)] } }),
      }),
    )
    for (let passed = 0, isOver = false; !isOver; passed += 1) {
      const clientId = someClientId()
      const killed = killedAfter(passed)
      await events.publish(notices.toReversed(), [clientId], killed.gate).catch(() => {})
      isOver = killed.count() <= passed
      await events.relay(clientId)
      const before = (await events.list(clientId)).map(({ id }) => id)
      expect(before).toEqual(idsOf(clientId, keys).slice(0, before.length))
      await events.publish(notices, [clientId])
      await events.relay(clientId)
      expect((await events.list(clientId)).map(({ id }) => id)).toEqual(idsOf(clientId, keys))
      expect(await events.log.listPending(clientId)).toEqual([])
    }
  })

  test('in other groups than before tells each event once, in order', async ({ events }) => {
    const at = (key: string, second: number) => someNotice(key, { timestamp: new Date(NOW + second * 1000) })
    const [first, early, undone] = [at('first', 1), at('early', 4), at('late#early#undone', 5)]
    const late = { ...at('late#early', 5), final: false }
    await events.webhooks.add(CLIENT, someWebhook({ finality: 'latest' }))
    await events.publish([early, late])
    await events.publish([first, early])
    await events.publish([first, undone])
    await events.publish([early])
    await events.publish([at('late', 5)])
    await events.relay()
    const expected = [first, early, late, at('late', 5), undone].map(({ key }) => key)
    expect((await events.list(CLIENT)).map(({ id }) => id)).toEqual(idsOf(CLIENT, expected))
    expect(await events.log.listPending(CLIENT)).toEqual([])
  })
})

describe('A relay', () => {
  test('wakes the webhooks that want an event, when it has its place', async ({ events }) => {
    const at = (path: string, overrides: Partial<Webhook>) =>
      someWebhook({ url: `https://receiver.example/${path}`, ...overrides })
    const webhooks = [
      at('all', {}),
      at('deposits', { types: ['deposit.completed'] }),
      at('withdrawals', { types: ['withdrawal.completed'] }),
      at('off', { disabledAt: new Date(NOW), disabledReason: 'gone' }),
    ]
    for (const webhook of webhooks) await events.webhooks.add(CLIENT, webhook)
    await events.publish([someNotice('key-0000')])
    await events.relay()
    const wanted = webhooks.slice(0, 2).map(({ id }) => ({ clientId: CLIENT, webhookId: id, logged: 1 }))
    expect(events.wakes.toSorted((a, b) => (a.webhookId < b.webhookId ? -1 : 1))).toEqual(
      wanted.toSorted((a, b) => (a.webhookId < b.webhookId ? -1 : 1)),
    )
  })

  test('leaves what is more than 20 pages to another call', async ({ events }) => {
    const wide = someNotice('', { data: { depositIds: ['x'.repeat(201 * 1024)] } })
    await events.publish(keysOf(21).map((key) => ({ ...wide, key })))
    events.relays.length = 0
    await events.relay()
    expect(await events.log.getHead(CLIENT)).toBe(21)
    expect(events.relays).toEqual([CLIENT])
  })

  test('reads events in order, though one is published behind where its query has come to, and another before', async ({
    events,
  }) => {
    // The first and the second are too large for one item, and wait in two.
    const [first, between, second] = [150_000, 0, 60_000].map((size, index) =>
      someNotice(`key-000${index}`, {
        timestamp: new Date(NOW - 1000 + index),
        data: { depositIds: ['x'.repeat(size)] },
      }),
    )
    await events.publish([between as Notice])
    let requests = 0
    await events.relay(CLIENT, async (request) => {
      const answer = await request()
      requests += 1
      // After the log's end and its pages, the first of what waits.
      if (requests === 3) await events.publish([first as Notice, second as Notice])
      return answer
    })
    expect((await events.list(CLIENT)).map(({ id }) => id)).toEqual(idsOf(CLIENT, LARGE_KEYS))
  })

  test('that is killed at any request is finished by the next', async ({ events }) => {
    for (let passed = 0, isOver = false; !isOver; passed += 1) {
      const clientId = someClientId()
      const webhook = someWebhook()
      await events.webhooks.add(clientId, webhook)
      await events.publish(LARGE, [clientId])
      const killed = killedAfter(passed)
      await events.relay(clientId, killed.gate).catch(() => {})
      isOver = killed.count() <= passed
      await events.relay(clientId)
      const log = await events.list(clientId)
      const expected = idsOf(clientId, LARGE_KEYS).map((id, index) => [id, index + 1])
      expect(log.map(({ id, sequence }) => [id, sequence])).toEqual(expected)
      expect(await events.log.listPending(clientId)).toEqual([])
      expect(await events.log.getHead(clientId)).toBe(4)
      // Who is woken then finds all of it.
      expect(events.wakes.at(-1)).toEqual({ clientId, webhookId: webhook.id, logged: 3 })
    }
  })

  test('puts each event once though the answer to each write is lost at first', async ({ events, loseAnswers }) => {
    loseAnswers()
    await events.publish(LARGE)
    await events.relay()
    expect((await events.list(CLIENT)).map(({ id }) => id)).toEqual(idsOf(CLIENT, LARGE_KEYS))
  })

  test('puts each event once, and no number twice, whoever else is at work or killed', async ({ events }) => {
    const others = LARGE.slice(1).map((notice) => ({ ...notice, key: `other-${notice.key}` }))
    const kill = fc.option(fc.nat(25))
    const turn = fc.nat({ max: 9 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 100, maxLength: 100 }),
        fc.tuple(fc.option(fc.nat(3)), kill, kill, kill),
        async (turns, [killOfFirst, ...kills]) => {
          const clientId = someClientId()
          const gateOf = (passed: number | null) => (passed === null ? passing : killedAfter(passed).gate)
          await events.publish(LARGE.slice(0, 2), [clientId], gateOf(killOfFirst)).catch(() => {})
          const runs = [
            (gate: Gate) => events.publish(LARGE, [clientId], gate),
            (gate: Gate) => events.publish(others, [clientId], gate),
            ...kills.map((passed) => (gate: Gate) => {
              const own = gateOf(passed)
              return events.relay(clientId, (request) => gate(() => own(request)))
            }),
          ]
          const order = turns.values()
          await interleave(runs, (waiting) => (order.next().value ?? 0) % waiting)
          await events.relay(clientId)
          const log = await events.list(clientId)
          const keys = [...LARGE, ...others].map(({ key }) => key)
          expect(log.map(({ id }) => id).toSorted()).toEqual(idsOf(clientId, keys).toSorted())
          expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1))
          for (const published of [LARGE, others]) {
            const ids = idsOf(
              clientId,
              published.map(({ key }) => key),
            )
            expect(log.map(({ id }) => id).filter((id) => ids.includes(id))).toEqual(ids)
          }
          expect(await events.log.listPending(clientId)).toEqual([])
        },
      ),
      { numRuns: runs(20) },
    )
  })
})
