import fc from 'fast-check'
import { describe, expect } from 'vitest'
import type { TransactingDynamo } from '../../../lib/aws/requests.ts'
import { createTable } from '../../../lib/aws/table.ts'
import { createTransactingTable } from '../../../lib/aws/transactions.ts'
import { publishNotices } from '../../../lib/webhooks/append.ts'
import type { Notice } from '../../../lib/webhooks/event.ts'
import { buildEventId } from '../../../lib/webhooks/ids.ts'
import { appendingLogStore } from '../../../lib/webhooks/log-store.ts'
import type { DeliveryMessage } from '../../../lib/webhooks/queue.ts'
import { webhooksStore } from '../../../lib/webhooks/store.ts'
import type { Webhook } from '../../../lib/webhooks/webhook.ts'
import { test as base } from '../../support/dynamo.ts'
import type { Connection } from '../../support/memory-dynamo.ts'
import { scaleSampleCount } from '../../support/runs.ts'
import { TEST_TABLES } from '../../support/tables.ts'
import {
  createCrashingGate,
  createGatedDynamo,
  type Gate,
  interleaveRequests,
  PASSING_GATE,
  someWebhook,
  someWebhookEvent,
} from '../../support/webhooks.ts'

const [CLIENT, OTHER] = ['clientAAAA', 'clientBBBB']
const NOW = Date.parse('2026-11-02T00:00:00.000Z')
const MONTH_MS = 30 * 86_400_000

function outbox({ dynamo }: Connection) {
  const tableAt = (gate: Gate) => createTransactingTable(createGatedDynamo(dynamo, gate), TEST_TABLES.webhooks)
  const log = appendingLogStore(tableAt(PASSING_GATE))
  const queued: DeliveryMessage[] = []
  return {
    log,
    webhooks: webhooksStore(createTable(dynamo, TEST_TABLES.webhooks)),
    queued,
    list: async (clientId: string, now = NOW) =>
      (await log.list(clientId, { after: 0, limit: 1000, now })).map(({ event }) => event),
    publishBy: (of: TransactingDynamo, notices: readonly Notice[]) => {
      const table = createTransactingTable(of, TEST_TABLES.webhooks)
      return publishNotices(
        {
          ...{ eventLog: appendingLogStore(table), webhooks: webhooksStore(table), now: () => NOW, random: () => 0 },
          enqueue: async (messages) => {
            queued.push(...messages)
          },
        },
        notices,
        () => [CLIENT],
      )
    },
    publish: (notices: readonly Notice[], clientIds = [CLIENT], gate = PASSING_GATE, now = NOW) =>
      publishNotices(
        {
          ...{ eventLog: appendingLogStore(tableAt(gate)), webhooks: webhooksStore(tableAt(gate)) },
          ...{ now: () => now, random: () => 0 },
          enqueue: (messages) =>
            gate(async () => {
              queued.push(...messages)
            }),
        },
        notices,
        () => clientIds,
      ),
  }
}

const test = base.extend('outbox', ({ memory }) => outbox(memory))

const keysOf = (count: number, prefix = 'key') =>
  Array.from({ length: count }, (_, index) => `${prefix}-${`${index}`.padStart(4, '0')}`)
const noticesOf = (keys: readonly string[]) => keys.map((key) => someWebhookEvent(key))
const idsOf = (clientId: string, keys: readonly string[]) => keys.map((key) => buildEventId(clientId, key))

/** Three webhook events, so large that two of them fill a page of the event log. */
const LARGE = keysOf(3).map((key) => someWebhookEvent(key, { data: { depositId: 'x'.repeat(90_000) } }))
const LARGE_KEYS = LARGE.map(({ key }) => key)

/** Each test case gets a client of its own, because all test cases share one table. */
let tries = 0
function someClientId(): string {
  tries += 1
  return `client${`${tries}`.padStart(4, '0')}`
}

describe('A log', () => {
  test('has each event once, in order of publication, with consecutive sequences', async ({ outbox }) => {
    const keys = keysOf(120)
    expect(await outbox.publish(noticesOf(keys.slice(0, 70)))).toBe(70)
    expect(await outbox.publish(noticesOf(keys))).toBe(50)
    expect(await outbox.publish(noticesOf(keys))).toBe(0)
    const log = await outbox.list(CLIENT)
    expect(log.map(({ id }) => id)).toEqual(idsOf(CLIENT, keys))
    expect(log.map(({ sequence }) => sequence)).toEqual(keys.map((_, index) => index + 1))
  })

  test('of one client has other event ids than that of another', async ({ outbox }) => {
    await outbox.publish(noticesOf(keysOf(2)), [CLIENT, OTHER])
    for (const clientId of [CLIENT, OTHER]) {
      expect((await outbox.list(clientId)).map(({ id }) => id)).toEqual(idsOf(clientId, keysOf(2)))
    }
    expect(idsOf(CLIENT, keysOf(2))).not.toEqual(idsOf(OTHER, keysOf(2)))
  })

  test('costs at most 2.5 write units an event, and 7 for a single one', async ({ outbox, memory }) => {
    const unitsOf = async (keys: readonly string[]) => {
      memory.tries.length = 0
      await outbox.publish(noticesOf(keys))
      const writes = memory.tries.filter(({ action }) => /Write|Put|Update/.test(action))
      return writes.reduce((sum, { units }) => sum + units, 0)
    }
    expect((await unitsOf(keysOf(100))) / 100).toBeLessThanOrEqual(2.5)
    expect(await unitsOf(['single'])).toBeLessThanOrEqual(7)
  })

  test('of a client costs five requests for up to fifty events, whatever webhooks it has', async ({
    outbox,
    requests,
  }) => {
    await outbox.webhooks.add(CLIENT, someWebhook(CLIENT))
    requests.length = 0
    await outbox.publish(noticesOf(keysOf(50)))
    expect(requests.toSorted()).toEqual(['BatchGetItem', 'BatchGetItem', 'TransactWriteItems', 'UpdateItem'])
  })

  test('has non-final events only once the client has a webhook for them', async ({ outbox }) => {
    const [first, second] = keysOf(2).map((key) => someWebhookEvent(key, { final: false }))
    await outbox.publish([first as Notice])
    await outbox.webhooks.add(CLIENT, someWebhook(CLIENT, { finality: 'latest' }))
    expect(await outbox.publish([second as Notice], [CLIENT, OTHER])).toBe(1)
    expect((await outbox.list(CLIENT)).map(({ id }) => id)).toEqual(idsOf(CLIENT, ['key-0001']))
  })

  test('costs only reads if non-final events are published again', async ({ outbox, requests }) => {
    const early = keysOf(5).map((key) => someWebhookEvent(key, { final: false }))
    await outbox.webhooks.add(CLIENT, someWebhook(CLIENT, { finality: 'latest' }))
    await outbox.publish(early)
    requests.length = 0
    await outbox.publish(early)
    expect(requests).toEqual(['BatchGetItem', 'BatchGetItem', 'BatchGetItem'])
  })

  test('has reverts only of its own events, even after that webhook is removed', async ({ outbox }) => {
    const early = someWebhookEvent('early', { final: false })
    const revert = (eventId: string): Notice => ({
      ...{ key: `${eventId}#reverted`, type: 'vault.reverted', timestamp: early.timestamp, final: false },
      data: { chainId: 8453, vaultAddress: early.data.vaultAddress, eventId },
    })
    await outbox.webhooks.add(CLIENT, someWebhook(CLIENT, { finality: 'latest' }))
    await outbox.publish([early], [CLIENT, OTHER])
    await outbox.webhooks.remove(CLIENT, someWebhook(CLIENT).id)
    expect(await outbox.publish([revert('early'), revert('unknown')], [CLIENT, OTHER])).toBe(1)
    const [firstEvent, reverted] = await outbox.list(CLIENT)
    expect(reverted).toMatchObject({ type: 'vault.reverted', data: { eventId: firstEvent?.id } })
    expect(await outbox.list(OTHER)).toEqual([])
  })

  test('is listed a megabyte at a time, without gaps', async ({ outbox }) => {
    await outbox.publish(keysOf(8).map((key) => someWebhookEvent(key, { data: { depositId: 'x'.repeat(190 * 1024) } })))
    const first = await outbox.list(CLIENT)
    const second = await outbox.log.list(CLIENT, { after: first.length, limit: 100, now: NOW })
    expect([first.length, second.length]).toEqual([5, 3])
    expect([...first, ...second].map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  test('is listed without gaps if pages are appended during a query', async ({ outbox, memory }) => {
    const late = createTransactingTable(
      {
        ...memory.dynamo,
        async query(input) {
          const page = await memory.dynamo.query(input)
          // Two pages are written during the query. The query was already past the position of the first page, so it
          // returns only the second page.
          await outbox.publish(noticesOf(['first']))
          await outbox.publish(noticesOf(['second']))
          const both = await memory.dynamo.query(input)
          return page.items.length > 0 ? page : { items: both.items.slice(1) }
        },
      },
      TEST_TABLES.webhooks,
    )
    const listed = await appendingLogStore(late).list(CLIENT, { after: 0, limit: 10, now: NOW })
    expect(listed.map(({ sequence }) => sequence)).toEqual([1, 2])
  })

  test('forgets events after thirty days, whenever the table deletes them', async ({ outbox }) => {
    await outbox.publish(noticesOf(['key-0000']))
    await outbox.publish(noticesOf(['key-0001']), [CLIENT], PASSING_GATE, NOW + MONTH_MS - 1000)
    expect(await outbox.list(CLIENT, NOW + MONTH_MS - 1000)).toHaveLength(2)
    expect((await outbox.list(CLIENT, NOW + MONTH_MS)).map(({ sequence }) => sequence)).toEqual([2])
  })
})

describe('An event', () => {
  test('is queued for the webhooks that want it, except those that are behind or disabled', async ({ outbox }) => {
    const at = (path: string, overrides: Partial<Webhook> = {}) =>
      someWebhook(CLIENT, { url: `https://receiver.example/${path}`, ...overrides })
    const behind = { from: 1, probeAt: NOW, isLive: false }
    const wanting = [
      at('all'),
      at('deposits', { types: ['deposit.completed'] }),
      at('live-again', { behind: { ...behind, isLive: true } }),
    ]
    const others = [
      at('withdrawals', { types: ['withdrawal.completed'] }),
      at('disabled', { disabledAt: new Date(NOW), disabledReason: 'gone' }),
      at('behind', { behind }),
      at('later', { after: 1 }),
    ]
    for (const webhook of [...wanting, ...others]) await outbox.webhooks.add(CLIENT, webhook)
    await outbox.publish(noticesOf(['key-0000']))
    const expected = wanting.map(({ id }) => ({ clientId: CLIENT, webhookId: id, sequence: 1, page: 1 }))
    const inOrder = (messages: readonly { readonly webhookId: string }[]) =>
      messages.toSorted((one, other) => (one.webhookId < other.webhookId ? -1 : 1))
    expect(inOrder(outbox.queued)).toEqual(inOrder(expected))
  })

  test('is appended once and queued at least once if a run is killed anywhere and repeated', async ({ outbox }) => {
    const early = LARGE.map((notice) => ({ ...notice, final: false }))
    for (const notices of [LARGE, early])
      for (let passed = 0, isOver = false; !isOver; passed += 1) {
        const clientId = someClientId()
        await outbox.webhooks.add(clientId, someWebhook(clientId, { finality: 'latest' }))
        await outbox.publish(noticesOf(['before']), [clientId])
        outbox.queued.length = 0
        const killed = createCrashingGate(passed)
        await outbox.publish(notices, [clientId], killed.gate).catch(() => {})
        isOver = killed.count() <= passed
        await outbox.publish(notices, [clientId])
        const log = await outbox.list(clientId)
        expect(log.map(({ id }) => id)).toEqual(idsOf(clientId, ['before', ...LARGE_KEYS]))
        expect(log.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4])
        expect(sequencesOf(outbox.queued)).toEqual([2, 3, 4])
        const before = outbox.queued.length
        await outbox.publish(notices, [clientId])
        expect(outbox.queued).toHaveLength(before)
      }
  })

  test('is appended once by two parallel runs', async ({ outbox }) => {
    await Promise.all([outbox.publish(noticesOf(keysOf(60, 'one'))), outbox.publish(noticesOf(keysOf(60, 'two')))])
    const log = await outbox.list(CLIENT)
    expect(log.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 120 }, (_, index) => index + 1))
    expect(log.map(({ id }) => id).toSorted()).toEqual(
      idsOf(CLIENT, [...keysOf(60, 'one'), ...keysOf(60, 'two')]).toSorted(),
    )
  })

  test('of a killed run is queued by the next run of another chain', async ({ outbox }) => {
    await outbox.webhooks.add(CLIENT, someWebhook(CLIENT))
    const killedAtQueue: Gate = async (request) => {
      const before = (await outbox.list(CLIENT)).length
      if (before > 0) throw new Error('killed')
      return await request()
    }
    await expect(outbox.publish(noticesOf(keysOf(2)), [CLIENT], killedAtQueue)).rejects.toThrow('killed')
    expect([(await outbox.list(CLIENT)).length, outbox.queued.length]).toEqual([2, 0])
    await outbox.publish(noticesOf(['other']))
    expect(sequencesOf(outbox.queued)).toEqual([1, 2, 3])
  })

  test('of a killed run is queued by the next one, even if a query misses its page at first', async ({
    outbox,
    memory,
  }) => {
    await outbox.webhooks.add(CLIENT, someWebhook(CLIENT))
    const dying = { ...memory.dynamo, transactWriteItems: memory.dynamo.transactWriteItems }
    dying.transactWriteItems = async (input) => {
      await memory.dynamo.transactWriteItems(input)
      throw new Error('killed')
    }
    await expect(outbox.publishBy(dying, noticesOf(keysOf(2)))).rejects.toThrow('killed')
    let queries = 0
    // The query misses the first item of a transaction, because DynamoDB does not isolate queries from transactions.
    const late = { ...memory.dynamo, query: memory.dynamo.query }
    late.query = async (input) => {
      const { items, ...page } = await memory.dynamo.query(input)
      queries += 1
      return { ...page, items: queries < 3 ? items.slice(1) : items }
    }
    await outbox.publishBy(late, noticesOf(['other']))
    expect(sequencesOf(outbox.queued)).toEqual([1, 2, 3])
  })

  test('is queued even if another run appends meanwhile', async ({ outbox, memory }) => {
    await outbox.webhooks.add(CLIENT, someWebhook(CLIENT))
    const busy = { ...memory.dynamo, updateItem: memory.dynamo.updateItem }
    busy.updateItem = async () => {
      throw Object.assign(new Error('Transaction is ongoing for the item'), { name: 'TransactionConflictException' })
    }
    expect(await outbox.publishBy(busy, noticesOf(['one']))).toBe(1)
    expect(sequencesOf(outbox.queued)).toEqual([1])
  })

  test('is appended once even if the response to each write is lost at first', async ({ outbox, loseAnswers }) => {
    loseAnswers()
    await outbox.publish(LARGE)
    expect((await outbox.list(CLIENT)).map(({ id }) => id)).toEqual(idsOf(CLIENT, LARGE_KEYS))
  })

  test('is appended and queued with a unique sequence, whichever runs append or are killed', async ({ outbox }) => {
    const others = LARGE.slice(1).map((notice) => ({ ...notice, key: `other-${notice.key}` }))
    const kill = fc.option(fc.nat(15))
    const turn = fc.nat({ max: 9 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 100, maxLength: 100 }),
        fc.tuple(kill, kill, kill),
        async (turns, kills) => {
          const clientId = someClientId()
          await outbox.webhooks.add(clientId, someWebhook(clientId))
          outbox.queued.length = 0
          const gateOf = (passed: number | null) => (passed === null ? PASSING_GATE : createCrashingGate(passed).gate)
          const published = [LARGE, others, LARGE]
          const runsAtOnce = kills.map((passed, index) => (gate: Gate) => {
            const own = gateOf(passed)
            return outbox.publish(published[index] ?? [], [clientId], (request) => gate(() => own(request)))
          })
          const order = turns.values()
          await interleaveRequests(runsAtOnce, (waiting) => (order.next().value ?? 0) % waiting)
          for (const notices of [LARGE, others]) await outbox.publish(notices, [clientId])
          const log = await outbox.list(clientId)
          const keys = [...LARGE, ...others].map(({ key }) => key)
          expect(log.map(({ id }) => id).toSorted()).toEqual(idsOf(clientId, keys).toSorted())
          expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1))
          for (const notices of [LARGE, others]) {
            const ids = idsOf(
              clientId,
              notices.map(({ key }) => key),
            )
            expect(log.map(({ id }) => id).filter((id) => ids.includes(id))).toEqual(ids)
          }
          expect(sequencesOf(outbox.queued)).toEqual(log.map(({ sequence }) => sequence))
        },
      ),
      { numRuns: scaleSampleCount(20) },
    )
  })
})

function sequencesOf(messages: readonly DeliveryMessage[]): number[] {
  const sequences = messages.flatMap((message) => ('sequence' in message ? message.sequence : []))
  return [...new Set(sequences)].toSorted((one, other) => one - other)
}
