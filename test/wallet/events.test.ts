import { expect, test } from 'vitest'
import { isEventOfOwner, listReported, type WebhookDelivery } from '../../wallet/src/events.ts'

const ALICE = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
const BOB = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc'
const HASH = `0x${'aa'.repeat(32)}`
const movement = {
  ...{ chainId: 8453, vaultAddress: '0xF2ea27c7b2e586B61af27223A7707356F685F718', userAddress: ALICE },
  ...{ transactionHash: HASH, blockNumber: 7, depositId: '8453-0xaa-1', entry: null, assets: '25000000', shares: null },
}

type EventInput = { type: string; timestamp?: string; data?: object }

function arrivals(...events: readonly EventInput[]): WebhookDelivery[] {
  const list = events.map(({ data, ...event }, index) => ({
    ...{ number: index + 1, attempt: 1, isVerified: true, isTaken: true, status: 204, delayMs: 1000 },
    ...{ receivedAt: '2026-11-01T00:00:02.000Z', id: `evt_${index + 1}` },
    event: {
      ...{ id: `evt_${index + 1}`, timestamp: '2026-11-01T00:00:00.000Z', sequence: index + 1, final: true },
      ...{ data: { ...movement, ...data }, ...event },
    },
  }))
  // The cast is safe because the tests read only these fields of a webhook delivery.
  return list.toReversed() as unknown as WebhookDelivery[]
}

test('Each step of a request has the time and the transaction of its latest event', () => {
  const settled = { type: 'deposit.claimable', timestamp: '2026-11-02T00:00:00.000Z' }
  const claim = { type: 'deposit.completed', timestamp: '2026-11-03T00:00:00.000Z', data: { transactionHash: null } }
  const reported = listReported(arrivals({ type: 'deposit.pending' }, settled, settled, claim))
  expect([...reported]).toEqual([
    [
      '8453-0xaa-1',
      { claimable: { at: settled.timestamp, hash: HASH }, completed: { at: claim.timestamp, hash: undefined } },
    ],
  ])
})

test('An event that a reorganisation has undone reports no step', () => {
  const undone = { type: 'deposit.reverted', data: { eventId: 'evt_1' } }
  expect(listReported(arrivals({ type: 'deposit.completed' }, undone))).toEqual(new Map())
})

test('Refused deliveries, tests, new types and events without a request report no step', () => {
  const settled = { type: 'deposit.claimable' }
  const dropped = arrivals(settled).map((arrival) => ({ ...arrival, isTaken: false }))
  const strange = arrivals(
    { type: 'deposit.blessed' },
    { type: 'webhook.test' },
    { ...settled, data: { depositId: null } },
  )
  expect(listReported(dropped)).toEqual(new Map())
  expect(listReported(strange)).toEqual(new Map())
})

test('An event is about the user’s accounts and about the transfers of this browser', () => {
  const owner = { accounts: new Set([ALICE]), transfers: new Set([HASH]) }
  const eventOf = (data: object) => {
    const [arrival] = arrivals({ type: 'transfer.completed', data: { userAddress: BOB, ...data } })
    if (!arrival?.event) throw new Error('There is no event.')
    return arrival.event
  }
  expect(isEventOfOwner(eventOf({ userAddress: ALICE }), owner)).toBe(true)
  expect(isEventOfOwner(eventOf({ transactions: { source: HASH } }), owner)).toBe(true)
  expect(isEventOfOwner(eventOf({}), owner)).toBe(false)
})
