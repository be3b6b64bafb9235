import { describe, expect, test } from 'vitest'
import { leases } from '../../../lib/clients/leases.ts'
import { meter, type Subject } from '../../../lib/clients/meter.ts'
import { quoteSubjects } from '../../../lib/clients/quote-limits.ts'

const SECONDS = 600

/** A table in memory, and a meter in a container. */
function startMeter({ maxWindows = 100 } = {}) {
  const clock = { now: 0 }
  const table = { counts: new Map<string, number>(), asked: [] as string[], isDown: false }
  const take = async (window: string, { size, limit }: { size: number; limit: number }) => {
    table.asked.push(window)
    if (table.isDown) throw new Error('unreachable')
    const counted = (table.counts.get(window) ?? 0) + size
    if (counted > limit) return null
    table.counts.set(window, counted)
    return counted
  }
  const startContainer = () => meter(leases({ take, now: () => clock.now, maxWindows }))
  return { clock, table, charge: startContainer(), startContainer }
}

const subject = (name: string, units: number): Subject => ({
  name,
  limit: { units, seconds: SECONDS },
  detail: { field: 'amount', issue: `limit of ${name}` },
})

const refusal = (name: string) =>
  expect.objectContaining({ code: 'too_many_requests', details: [{ field: 'amount', issue: `limit of ${name}` }] })

describe('A charge', () => {
  test('that the first subject refuses costs the others nothing', async () => {
    const { charge, table, startContainer } = startMeter()
    const [network, client] = [subject('network', 1), subject('client', 2)]
    await charge([network, client])
    for (const container of [charge, startContainer(), startContainer()]) {
      await expect(container([network, client])).rejects.toEqual(refusal('network'))
    }
    expect(table.counts.get('client#600000')).toBe(1)
    await charge([subject('other', 1), client])
  })

  test('that the last subject refuses is given back to the first', async () => {
    const { charge, startContainer } = startMeter()
    const client = subject('client', 1)
    await charge([client])
    // This container does not know yet that the client has no units left.
    const other = startContainer()
    const network = subject('network', 1)
    await expect(other([network, client])).rejects.toEqual(refusal('client'))
    await other([network])
    await expect(other([network])).rejects.toEqual(refusal('network'))
  })

  test('that is known to be refused asks the table nothing, from however many networks', async () => {
    const { charge, table } = startMeter()
    const client = subject('client', 2)
    for (const name of ['a', 'b']) await charge([subject(name, 1), client])
    await expect(charge([subject('c', 1), client])).rejects.toEqual(refusal('client'))
    const asked = table.asked.length
    for (let one = 0; one < 50; one += 1) {
      await expect(charge([subject(`more ${one}`, 1), client])).rejects.toEqual(refusal('client'))
    }
    expect(table.asked).toHaveLength(asked)
  })

  test('is possible again in the next window, which the refusal names', async () => {
    const { charge, clock } = startMeter()
    const network = subject('network', 1)
    await charge([network])
    clock.now = SECONDS * 1000 - 1500
    await expect(charge([network])).rejects.toMatchObject({ headers: { 'retry-after': '2' } })
    clock.now = SECONDS * 1000
    await charge([network])
  })

  test('is free while the table cannot be reached', async () => {
    const { charge, table, clock } = startMeter()
    table.isDown = true
    const network = subject('network', 1)
    for (const _ of [1, 2, 3]) await charge([network])
    expect(table.asked).toHaveLength(1)
    table.isDown = false
    clock.now += 5000
    await charge([network])
    await expect(charge([network])).rejects.toEqual(refusal('network'))
  })
})

describe('Windows in memory', () => {
  test('are bounded, and what is forgotten is in the table', async () => {
    const { charge, table } = startMeter({ maxWindows: 3 })
    for (const name of ['a', 'b', 'c', 'd']) await charge([subject(name, 1)])
    const asked = table.asked.length
    await expect(charge([subject('b', 1)])).rejects.toEqual(refusal('b'))
    await expect(charge([subject('a', 1)])).rejects.toEqual(refusal('a'))
    expect(table.asked.slice(asked)).toEqual(['a#600000'])
  })

  test('make room once they have ended', async () => {
    const { charge, clock, table } = startMeter({ maxWindows: 2 })
    await charge([subject('old', 1)])
    clock.now = SECONDS * 1000
    await charge([subject('a', 1)])
    await charge([subject('b', 1)])
    const asked = table.asked.length
    for (const name of ['a', 'b']) await expect(charge([subject(name, 1)])).rejects.toEqual(refusal(name))
    expect(table.asked).toHaveLength(asked)
  })
})

describe('The limits of quotes', () => {
  const limitsOf = (direction: 'in' | 'out', perClient: number, sourceIp = '192.0.2.1') =>
    quoteSubjects({ clientId: 'acme', sourceIp, direction }, perClient).map(({ limit }) => limit.units)
  const networkNamed = (sourceIp: string) =>
    quoteSubjects({ clientId: 'acme', sourceIp, direction: 'in' }, 300)[0]?.name

  test.for([
    { perClient: 300, deposits: [20, 200], out: [10, 100] },
    { perClient: 31, deposits: [2, 21], out: [1, 10] },
    { perClient: 1, deposits: [1, 1], out: [1, 1] },
  ])(
    'are two thirds of $perClient for deposits and a third for ways out, a tenth of each for a network',
    ({ perClient, deposits, out }) => {
      expect([limitsOf('in', perClient), limitsOf('out', perClient)]).toEqual([deposits, out])
    },
  )

  test('are spent by one direction and one client only', () => {
    const namesOf = (clientId: string, direction: 'in' | 'out') =>
      quoteSubjects({ clientId, sourceIp: '192.0.2.1', direction }, 300).map(({ name }) => name)
    const names = [namesOf('acme', 'in'), namesOf('acme', 'out'), namesOf('other', 'in')].flat()
    expect(new Set(names).size).toBe(6)
  })

  test('count the /64 of an IPv6 address as one network, and keep no address', () => {
    expect(networkNamed('2001:db8:1:2::1')).toBe(networkNamed('2001:db8:1:2::ffff'))
    expect(networkNamed('2001:db8:1:2::1')).not.toBe(networkNamed('2001:db8:1:3::1'))
    expect(networkNamed('192.0.2.1')).not.toContain('192.0.2.1')
  })
})
