import { test as base, expect } from 'vitest'
import { startReceiver } from '../../sandbox/receiver.ts'
import { signedHeaders } from '../support/webhook-signatures.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const EVENT = {
  id: 'evt_1',
  type: 'deposit.claimable',
  timestamp: '2026-11-01T00:00:00.000Z',
  sequence: 1,
  final: true,
}

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('clock', ({}) => ({ ms: Date.parse(EVENT.timestamp) + 2500 }))
  .extend('receiver', async ({ clock }, { onCleanup }) => {
    const receiver = await startReceiver(() => clock.ms)
    onCleanup(receiver.stop)
    receiver.trust(SECRET)
    return receiver
  })

async function deliver(url: string, event: object, { id = 'evt_1', secret = SECRET } = {}): Promise<number> {
  const body = JSON.stringify(event)
  const headers = signedHeaders(secret, id, body)
  return (await fetch(url, { method: 'POST', body, headers })).status
}

test('The receiver takes an event once and reports its delay', async ({ receiver }) => {
  expect(await deliver(receiver.url, EVENT)).toBe(204)
  expect(await deliver(receiver.url, EVENT)).toBe(204)
  const same = { id: 'evt_1', isVerified: true, status: 204, delayMs: 2500, event: EVENT }
  expect(receiver.listArrivals(0)).toMatchObject([
    { ...same, number: 1, attempt: 1, isTaken: true },
    { ...same, number: 2, attempt: 2, isTaken: false },
  ])
  expect(receiver.listArrivals(1)).toMatchObject([{ number: 2 }])
})

test('An event from a clock that is ahead has no negative delay', async ({ receiver, clock }) => {
  clock.ms -= 358_100
  await deliver(receiver.url, EVENT)
  expect(receiver.listArrivals(0)).toMatchObject([{ delayMs: 0 }])
})

test('The receiver refuses and shows an event signed with another secret', async ({ receiver }) => {
  const secret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
  expect(await deliver(receiver.url, EVENT, { secret })).toBe(401)
  expect((await fetch(receiver.url, { method: 'POST', body: 'no event' })).status).toBe(401)
  expect(receiver.listArrivals(0)).toMatchObject([
    { isVerified: false, isTaken: false, status: 401, event: EVENT },
    { isVerified: false, isTaken: false, status: 401, event: null, delayMs: null, id: '' },
  ])
})

test('The receiver fails on demand for some seconds, then takes the next attempt', async ({ receiver, clock }) => {
  receiver.behave('refuse', 10)
  expect(await deliver(receiver.url, EVENT)).toBe(503)
  receiver.behave('gone', 10)
  expect(await deliver(receiver.url, EVENT)).toBe(410)
  clock.ms += 10_000
  expect(await deliver(receiver.url, EVENT)).toBe(204)
  expect(receiver.listArrivals(0).map(({ attempt, isTaken }) => [attempt, isTaken])).toEqual([
    [1, false],
    [2, false],
    [3, true],
  ])
})

test('A hanging receiver does not respond until the sender gives up', async ({ receiver }) => {
  receiver.behave('hang', 10)
  await expect(fetch(receiver.url, { method: 'POST', body: '{}', signal: AbortSignal.timeout(100) })).rejects.toThrow()
  expect(receiver.listArrivals(0)).toMatchObject([{ status: null, isTaken: false }])
})

test('The receiver reads no body of more than 64 KiB, and keeps the last 300 arrivals', async ({ receiver }) => {
  expect(await deliver(receiver.url, { ...EVENT, data: 'x'.repeat(65 * 1024) })).toBe(413)
  for (let index = 0; index < 301; index += 1) await deliver(receiver.url, EVENT, { id: `evt_${index}` })
  const arrivals = receiver.listArrivals(0)
  expect(arrivals).toHaveLength(300)
  expect(arrivals.at(-1)?.number).toBe(301)
})
