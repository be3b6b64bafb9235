import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLeases } from '../../../lib/meter/leases.ts'
import { type BudgetPurpose, type Charge, createMeter, type Payer, REQUEST_UNITS } from '../../../lib/meter/meter.ts'

const RATE = { requests: 6000, seconds: 60 }
/**
 * Units for external data sources that one session or network may use per window of 600 s. It is a tenth of the key's
 * units.
 */
const TENTH = 6000
const KEY: Payer = { who: 'key', id: 'acme#key' }

function startMeter({ maxWindows = 1000 } = {}) {
  const clock = { now: 0 }
  const table = { counts: new Map<string, number>(), requests: [] as string[], isDown: false }
  const take = async (window: string, { size, limit }: { size: number; limit: number }) => {
    table.requests.push(window)
    if (table.isDown) throw new Error('unreachable')
    const counted = (table.counts.get(window) ?? 0) + size
    if (counted > limit) return null
    table.counts.set(window, counted)
    return counted
  }
  const startContainer = () => createMeter(createLeases({ take, now: () => clock.now, maxWindows }))
  return { clock, table, container: startContainer(), startContainer }
}

const network = (name: string): Payer => ({ who: 'network', id: `acme#key#${name}` })
const session = (name: string): Payer => ({ who: 'session', id: `acme#key#${name}` })

const chargeOf = (
  payers: readonly Payer[],
  units: number,
  { purpose = 'sources', rate = RATE }: Partial<Charge> = {},
): Charge => ({ payers: [...payers, KEY], rate, purpose, units })

const refusal = (field: string) =>
  expect.objectContaining({ code: 'too_many_requests', details: [expect.objectContaining({ field })] })
const [BY_SESSION, BY_NETWORK, BY_KEY] = [refusal('authorization'), refusal('address'), refusal('x-join-key')]

describe('A charge', () => {
  test('that the network refuses costs the key nothing', async () => {
    const { container, table, startContainer } = startMeter()
    await container.charge(chargeOf([network('a')], TENTH))
    for (const one of [container, startContainer(), startContainer()]) {
      await expect(one.charge(chargeOf([network('a')], 1))).rejects.toEqual(BY_NETWORK)
    }
    expect(table.counts.get('sources#key#acme#key#600000')).toBe(TENTH)
    await container.charge(chargeOf([network('b')], 1))
  })

  test('that the key refuses is refunded to the network', async () => {
    const { container, startContainer } = startMeter()
    const all = Array.from({ length: 10 }, (_, index) => network(`${index}`))
    for (const one of all) await container.charge(chargeOf([one], TENTH))
    // A new container has not yet learned that the key has no units left.
    const other = startContainer()
    await expect(other.charge(chargeOf([network('new')], TENTH))).rejects.toEqual(BY_KEY)
    const anotherKey = { payers: [network('new')], rate: RATE, purpose: 'sources', units: TENTH } as const
    await other.charge(anotherKey)
    await expect(other.charge({ ...anotherKey, units: 1 })).rejects.toEqual(BY_NETWORK)
  })

  test('that is known to be refused sends no request to the table, from any number of networks', async () => {
    const { container, table } = startMeter()
    for (let one = 0; one < 10; one += 1) await container.charge(chargeOf([network(`${one}`)], TENTH))
    await expect(container.charge(chargeOf([network('c')], 1))).rejects.toEqual(BY_KEY)
    const requestCount = table.requests.length
    for (let one = 0; one < 50; one += 1) {
      await expect(container.charge(chargeOf([network(`more ${one}`)], 1))).rejects.toEqual(BY_KEY)
    }
    expect(table.requests).toHaveLength(requestCount)
    expect(container.findRefusal(chargeOf([network('last')], 1))).toEqual(BY_KEY)
  })

  test('of many units is one request to the table for each payer, all of them or none', async () => {
    const { container, table } = startMeter()
    await container.charge(chargeOf([session('s'), network('a')], 140))
    expect(table.requests).toHaveLength(3)
    await expect(container.charge(chargeOf([session('s'), network('a')], TENTH - 139))).rejects.toEqual(BY_SESSION)
    await container.charge(chargeOf([session('s'), network('a')], TENTH - 140))
  })

  test('is possible again in the next window, which the refusal names', async () => {
    const { container, clock } = startMeter()
    await container.charge(chargeOf([network('a')], TENTH))
    clock.now = 600_000 - 1500
    await expect(container.charge(chargeOf([network('a')], 1))).rejects.toMatchObject({
      headers: { 'retry-after': '2' },
    })
    clock.now = 600_000
    await container.charge(chargeOf([network('a')], 1))
  })

  test('is free while the table is unreachable', async () => {
    const { container, table, clock } = startMeter()
    table.isDown = true
    for (const _ of [1, 2, 3]) await container.charge(chargeOf([network('a')], TENTH))
    table.isDown = false
    clock.now += 5000
    await container.charge(chargeOf([network('a')], TENTH))
    await expect(container.charge(chargeOf([network('a')], 1))).rejects.toEqual(BY_NETWORK)
  })
})

describe('A session and a network', () => {
  test('each spend at most a tenth of their key’s units, and the key keeps the rest', async () => {
    const { container } = startMeter()
    const spendAll = async (payers: readonly Payer[]) => {
      let units = 0
      while (
        await container.charge(chargeOf(payers, 20)).then(
          () => true,
          () => false,
        )
      )
        units += 20
      return units
    }
    expect(await spendAll([session('a'), network('a')])).toBe(TENTH)
    expect(await spendAll([session('b'), network('a')])).toBe(0)
    expect(await spendAll([session('a'), network('b')])).toBe(0)
    expect(await spendAll([session('b'), network('b')])).toBe(TENTH)
  })

  test('make one request per container without the table, so a flood gets little more', async () => {
    const { startContainer, table } = startMeter()
    const rate = { requests: 6000, seconds: 60 }
    const request = chargeOf([network('a')], 1, { purpose: 'requests', rate })
    let admitted = 0
    const containers = Array.from({ length: 540 }, startContainer)
    for (const { charge } of containers) {
      for (let one = 0; one < 10; one += 1)
        await charge(request)
          .then(() => (admitted += 1))
          .catch(() => {})
    }
    expect(admitted).toBeGreaterThan(600)
    expect(admitted).toBeLessThanOrEqual(540 + 600)
    table.requests.length = 0
    await startContainer().charge(chargeOf([network('b')], 1, { purpose: 'requests', rate }))
    expect(table.requests).toEqual(['requests#key#acme#key#60000'])
  })

  test('of a small key can still pay for the most expensive request, quote and claim', async () => {
    const rate = { requests: 20, seconds: 60 }
    const { container } = startMeter()
    const by = [session('a'), network('a')]
    await container.charge(chargeOf(by, REQUEST_UNITS.coingecko, { rate }))
    for (const purpose of ['quotes', 'withdrawalQuotes'] as const) {
      await container.charge(chargeOf(by, REQUEST_UNITS.quote, { rate, purpose }))
    }
    expect(container.findRefusal(chargeOf(by, 1, { rate, purpose: 'withdrawals' }))).toBeUndefined()
  })
})

describe('A budget', () => {
  test('is independent of other budgets, and never exceeds its units', async () => {
    const most: Readonly<Record<BudgetPurpose, number>> = {
      requests: 6000,
      withdrawals: 3000,
      sources: 60_000,
      quotes: 60_000,
      withdrawalQuotes: 30_000,
    }
    // The cast is safe, because the keys of `most` are exactly the budget purposes.
    const names = Object.keys(most) as BudgetPurpose[]
    const orders = fc.shuffledSubarray(names, { minLength: names.length })
    await fc.assert(
      fc.asyncProperty(orders, async (order) => {
        const { container } = startMeter()
        for (const purpose of order) {
          const whole = (units: number) => container.charge(chargeOf([], units, { purpose }))
          const code = /requests|withdrawals/.test(purpose) ? 'rate_limit_exceeded' : 'too_many_requests'
          await expect(whole(most[purpose] + 1)).rejects.toMatchObject({ code: expect.stringMatching(/rate|many/) })
          await whole(most[purpose])
          await expect(whole(1)).rejects.toMatchObject({ code })
        }
      }),
    )
  })
})

describe('Windows in memory', () => {
  const only = (name: string): Charge => ({ ...chargeOf([], 60), payers: [network(name)] })
  const twice = (name: string) => ({ ...only(name), units: TENTH })

  test('are bounded, and dropped windows are read from the table', async () => {
    const { container, table } = startMeter({ maxWindows: 3 })
    for (const name of ['a', 'b', 'c', 'd']) await container.charge(twice(name))
    for (const name of ['b', 'c', 'd']) await expect(container.charge(only(name))).rejects.toEqual(BY_NETWORK)
    const requestCount = table.requests.length
    await expect(container.charge(only('b'))).rejects.toEqual(BY_NETWORK)
    await expect(container.charge(only('a'))).rejects.toEqual(BY_NETWORK)
    expect(table.requests.slice(requestCount)).toEqual(['sources#network#acme#key#a#600000'])
  })

  test('make room once they have ended', async () => {
    const { container, clock, table } = startMeter({ maxWindows: 2 })
    await container.charge(twice('old'))
    clock.now = 600_000
    for (const name of ['a', 'b']) {
      await container.charge(twice(name))
      await expect(container.charge(only(name))).rejects.toEqual(BY_NETWORK)
    }
    const requestCount = table.requests.length
    for (const name of ['a', 'b']) await expect(container.charge(only(name))).rejects.toEqual(BY_NETWORK)
    expect(table.requests).toHaveLength(requestCount)
  })
})
