import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { AppError } from '../../../lib/core/errors.ts'
import { createLeases, type Leases } from '../../../lib/meter/leases.ts'
import { leasesStore } from '../../../lib/meter/leases-store.ts'
import { createMeter } from '../../../lib/meter/meter.ts'
import { test as base } from '../../support/dynamo.ts'
import { captureLogs } from '../../support/logs.ts'
import { scaleSampleCount } from '../../support/runs.ts'

const START = Date.parse('2026-06-01T00:00:00.000Z')
const RATE = { requests: 600, seconds: 60 }
const KEY = { clientId: 'AbCdE01234', keyId: 'key0000001', rate: RATE }

function createAdmission(counted: Leases) {
  const { charge } = createMeter(counted)
  return async ({ clientId, keyId, rate }: typeof KEY) => {
    const payers = [{ who: 'key', id: `${clientId}#${keyId}` }] as const
    return (await charge({ payers, rate, purpose: 'requests', units: 1 })).headers
  }
}

const test = base
  .extend('clock', () => ({ now: START }))
  .extend('store', ({ tables }) => leasesStore(tables.cache))
  .extend('startContainer', ({ store, clock }) => (shift = 0) => {
    const counts = { requestCount: 0 }
    const take: typeof store.take = (...args) => {
      counts.requestCount += 1
      return store.take(...args)
    }
    return { admit: createAdmission(createLeases({ take, now: () => clock.now + shift })), counts }
  })

const isAdmitted = (admission: Promise<unknown>) =>
  admission.then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ code: 'rate_limit_exceeded' })
      return false
    },
  )

describe('All containers together', () => {
  test('never admit more than the limit per window, and lose at most the rest of their leases', async ({
    startContainer,
    clock,
  }) => {
    let windows = 0
    const limits = fc.constantFrom(1, 7, 60, 100, 250, 600)
    const requests = fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 700 })
    await fc.assert(
      fc.asyncProperty(limits, fc.integer({ min: 1, max: 6 }), requests, async (limit, count, asks) => {
        windows += 1
        clock.now = START + windows * RATE.seconds * 1000
        const containers = Array.from({ length: count }, () => startContainer())
        const key = { ...KEY, rate: { requests: limit, seconds: 60 } }
        const admittedBy = containers.map(() => 0)
        const make = async (index: number) => {
          const { admit } = containers[index] as (typeof containers)[number]
          if (await isAdmitted(admit(key))) admittedBy[index] = (admittedBy[index] ?? 0) + 1
        }
        await Promise.all(asks.map((index) => make(index % count)))
        const admitted = admittedBy.reduce((sum, each) => sum + each, 0)
        // Unused requests of a container's last quota lease are lost. A lease is at most as large as all leases
        // before it, and at most 1 % of the limit.
        const lost = admittedBy.map((each) => Math.min(Math.max(0, each - 1), Math.max(0, Math.floor(limit / 100) - 1)))
        expect(admitted).toBeLessThanOrEqual(limit)
        expect(admitted).toBeGreaterThanOrEqual(
          Math.min(
            asks.length,
            lost.reduce((left, each) => left - each, limit),
          ),
        )
      }),
      { numRuns: scaleSampleCount(40), endOnFailure: true },
    )
  })

  test('admit the whole limit if each gets one request', async ({ startContainer, clock }) => {
    clock.now = START + 300_000
    let admitted = 0
    for (let attempt = 0; attempt < 601; attempt += 1) if (await isAdmitted(startContainer().admit(KEY))) admitted += 1
    expect(admitted).toBe(600)
  })

  test('report the remaining requests and seconds, as far as each knows', async ({ startContainer, clock }) => {
    const [one, other] = [startContainer(), startContainer()]
    clock.now += 20_500
    expect(await one.admit(KEY)).toEqual({ 'ratelimit-policy': '"key";q=600;w=60', ratelimit: '"key";r=599;t=40' })
    expect(await other.admit(KEY)).toMatchObject({ ratelimit: '"key";r=598;t=40' })
    expect(await one.admit(KEY)).toMatchObject({ ratelimit: '"key";r=597;t=40' })
  })

  test('admit at most twice the limit around the border of two windows', async ({ startContainer, clock }) => {
    const { admit } = startContainer()
    const burst = () => Promise.all(Array.from({ length: 700 }, () => isAdmitted(admit(KEY))))
    clock.now = START + 119_999
    const before = await burst()
    clock.now += 1
    const after = await burst()
    expect([before, after].map((all) => all.filter(Boolean).length)).toEqual([600, 600])
  })
})

describe('A container', () => {
  test('leases as many requests as it has admitted, at most 1 % of the limit, and none at the limit', async ({
    startContainer,
    clock,
  }) => {
    clock.now = START + 600_000
    const { admit, counts } = startContainer()
    const admitted = await Promise.all(Array.from({ length: 600 }, () => isAdmitted(admit(KEY))))
    expect(admitted.every(Boolean)).toBe(true)
    // The container takes quota leases of 1, 1, 2 and 4 requests, then 98 leases of 6, and four smaller ones.
    expect(counts.requestCount).toBe(4 + 98 + 4)
    const { requestCount } = counts
    const late = startContainer()
    for (let round = 0; round < 20; round += 1) {
      expect(await isAdmitted(late.admit(KEY))).toBe(false)
      expect(await isAdmitted(admit(KEY))).toBe(false)
    }
    expect([counts.requestCount - requestCount, late.counts.requestCount]).toEqual([0, 1])
  })

  test('refuses with the remaining seconds of the window, rounded up', async ({ startContainer, clock }) => {
    const { admit } = startContainer()
    const key = { ...KEY, keyId: 'key0000002', rate: { requests: 1, seconds: 60 } }
    clock.now = START + 59_001
    await admit(key)
    const refusal = await admit(key).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(AppError)
    expect(refusal).toMatchObject({
      headers: { 'retry-after': '1', ratelimit: '"key";r=0;t=1', 'ratelimit-policy': '"key";q=1;w=60' },
    })
    clock.now += 999
    expect(await isAdmitted(admit(key))).toBe(true)
  })

  test('applies a key’s new limit immediately, despite its leases', async ({ startContainer, clock }) => {
    const { admit } = startContainer()
    clock.now = START + 1_200_000
    const small = { ...KEY, rate: { requests: 2, seconds: 60 } }
    expect(await isAdmitted(admit(small))).toBe(true)
    expect(await isAdmitted(admit(small))).toBe(true)
    expect(await isAdmitted(admit(small))).toBe(false)
    expect(await isAdmitted(admit(KEY))).toBe(true)
    expect(await isAdmitted(admit(small))).toBe(false)
  })

  test('admits requests uncounted while the table fails, logs it, and tries again after five seconds', async ({
    clock,
    store,
  }) => {
    const logs = captureLogs()
    let isDown = true
    let requestCount = 0
    const take: typeof store.take = async (...args) => {
      requestCount += 1
      if (isDown) throw new Error('unreachable')
      return store.take(...args)
    }
    const admit = createAdmission(createLeases({ take, now: () => clock.now }))
    clock.now = START + 1_800_000
    const headers = await Promise.all(Array.from({ length: 50 }, () => admit(KEY)))
    expect(headers).toEqual(headers.map(() => ({ 'ratelimit-policy': '"key";q=600;w=60' })))
    expect(requestCount).toBe(1)
    expect(logs.text()).toContain('requests are not counted')
    isDown = false
    clock.now += 5000
    expect(await admit(KEY)).toMatchObject({ ratelimit: '"key";r=599;t=55' })
  })
})
