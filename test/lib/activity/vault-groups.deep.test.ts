import fc from 'fast-check'
import { getAddress, numberToHex } from 'viem'
import { describe, expect } from 'vitest'
import { runsStore } from '../../../lib/activity/recording/runs-store.ts'
import { addressesOf, divide, groupOf, overlap, VaultGroup } from '../../../lib/activity/recording/vault-groups.ts'
import { test } from '../../support/dynamo.ts'

const addresses = fc.uniqueArray(
  // Some alike in their first or last bits, as addresses that somebody has chosen are.
  fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 160n - 1n }),
    fc.bigInt({ min: 0n, max: 100n }),
    fc.bigInt({ min: 2n ** 160n - 100n, max: 2n ** 160n - 1n }),
  ),
  { minLength: 1, maxLength: 60 },
)
const vaultsOf = (numbers: readonly bigint[]) =>
  numbers.map((number) => ({ address: getAddress(numberToHex(number, { size: 20 })) }))

describe('Groups', () => {
  test('have each vault once, and at most as many as they may', () => {
    fc.assert(
      fc.property(addresses, fc.integer({ min: 1, max: 9 }), (numbers, most) => {
        const groups = divide(vaultsOf(numbers), most).map((group) => addressesOf(VaultGroup.parse(group)))
        const members = groups.map(({ from, to }) =>
          numbers.filter((number) => number >= BigInt(from) && number <= BigInt(to)),
        )
        expect(members.flat().toSorted()).toEqual(numbers.toSorted())
        for (const { length } of members) expect(length > 0 && length <= most).toBe(true)
      }),
    )
  })

  test('stay as they are when a vault is added, but for its own', () => {
    fc.assert(
      fc.property(addresses, fc.integer({ min: 1, max: 9 }), ([added = 0n, ...numbers], most) => {
        const [before, after] = [divide(vaultsOf(numbers), most), divide(vaultsOf([added, ...numbers]), most)]
        const [{ address = '0x' } = {}] = vaultsOf([added])
        const others = (groups: readonly string[]) => groups.filter((group) => !groupOf(address, 160).startsWith(group))
        const own = before.filter((group) => groupOf(address, 160).startsWith(group))
        for (const group of others(after))
          expect(before.includes(group) || own.some((of) => overlap(of, group))).toBe(true)
        for (const group of others(before)) expect(after).toContain(group)
      }),
    )
  })
})

describe('Of groups that overlap', () => {
  test('one alone is recorded at a time, whoever asks at the same time', async ({ tables }) => {
    const runs = runsStore(tables.deposits)
    const groups = ['', '0', '00', '01', '1', '10', '101']
    const order = fc.shuffledSubarray(groups, { minLength: groups.length })
    for (const [chainId, asked] of fc.sample(order, { numRuns: 4, seed: 47 }).entries()) {
      const take = (group: string, now: number) => runs.takeLease({ chainId, group }, group, { now, until: now + 10 })
      const taken = await Promise.all(asked.map((group) => take(group, 1_000)))
      const atOnce = asked.filter((_, index) => taken[index] !== undefined)
      // Those that met may all have given theirs back; one after the other, each that overlaps no other has one.
      for (const group of asked.filter((one) => !atOnce.includes(one))) {
        const isFree = !atOnce.some((other) => overlap(group, other))
        expect((await take(group, 1_001)) !== undefined).toBe(isFree)
        if (isFree) atOnce.push(group)
      }
      for (const one of atOnce) {
        expect(atOnce.filter((other) => overlap(one, other))).toEqual([one])
        expect(await runs.keepLease({ chainId, group: one }, one, 1_020)).toBe(true)
      }
    }
  })

  test('one that has run out is lost as soon as another is taken, and not before', async ({ tables }) => {
    const runs = runsStore(tables.deposits)
    const [whole, part] = [
      { chainId: 1, group: '' },
      { chainId: 1, group: '01' },
    ]
    expect(await runs.takeLease(whole, 'one', { now: 0, until: 10 })).toBeTypeOf('number')
    expect(await runs.takeLease(part, 'another', { now: 10, until: 20 })).toBeUndefined()
    expect(await runs.keepLease(whole, 'one', 12)).toBe(true)
    expect(await runs.takeLease(part, 'another', { now: 13, until: 20 })).toBeTypeOf('number')
    expect(await runs.keepLease(whole, 'one', 30)).toBe(false)
    expect(await runs.takeLease(whole, 'one', { now: 14, until: 30 })).toBeUndefined()
    expect(await runs.releaseLease(part, 'another')).toBe(true)
    expect(await runs.takeLease(whole, 'one', { now: 15, until: 30 })).toBeTypeOf('number')
  })
})

describe('A group', () => {
  const of = { chainId: 1, group: '01' }
  const MINUTE = 60_000

  test('is recorded each minute, whatever a clock that is a day ahead has written', async ({ tables }) => {
    const runs = runsStore(tables.deposits)
    const take = (group: string, owner: string, now: number, askedAt?: number) =>
      runs.takeLease({ chainId: 1, group }, owner, { now, until: now + 90_000, askedAt })
    const ahead = 24 * 60 * MINUTE
    expect(await take('01', 'fast', ahead)).toBeTypeOf('number')
    await runs.releaseLease(of, 'fast')
    expect(await take('01', 'one', MINUTE, MINUTE)).toBeTypeOf('number')
    await runs.releaseLease(of, 'one')
    // Killed; then the group is divided otherwise, too.
    for (const group of ['01', '0']) {
      expect(await take('01', 'fast', ahead)).toBeTypeOf('number')
      expect(await take(group, 'another', 2 * MINUTE, 2 * MINUTE)).toBeTypeOf('number')
      expect(await runs.keepLease(of, 'fast', ahead + 90_000)).toBe(false)
      await runs.releaseLease({ chainId: 1, group }, 'another')
    }
  })

  test('is not taken from a run at work, not even by one whose clock is half an hour behind', async ({ tables }) => {
    const runs = runsStore(tables.deposits)
    const now = 60 * MINUTE
    await runs.takeLease(of, 'at work', { now, until: now + 90_000 })
    for (const behind of [1, 2, 30].map((minutes) => now - minutes * MINUTE)) {
      for (const group of ['01', '']) {
        const late = { now: behind, until: behind + 90_000 }
        expect(await runs.takeLease({ chainId: 1, group }, 'late', late)).toBeUndefined()
      }
    }
    expect(await runs.keepLease(of, 'at work', now + 100_000)).toBe(true)
  })

  test('has one turn after the other, however its runs end, and none by a run that never had its lease', async ({
    tables,
    loseAnswers,
  }) => {
    const runs = runsStore(tables.deposits)
    const rebuild = { chainId: 1, group: '0101' }
    let now = 0
    const take = (group: typeof of, owner: string) => {
      now += 2 * MINUTE
      return runs.takeLease(group, owner, { now, until: now + MINUTE })
    }
    const turns: (number | undefined)[] = []
    for (let minute = 0; minute < 4; minute += 1) {
      if (minute === 2) loseAnswers()
      // One that meets another, one that is killed, and one that ends.
      await runs.takeLease(rebuild, 'rebuild', { now, until: now + 3 * MINUTE })
      expect(await take(of, 'meets another')).toBeUndefined()
      await runs.releaseLease(rebuild, 'rebuild')
      turns.push(await take(of, 'killed'), await take(of, 'ends'))
      await runs.releaseLease(of, 'ends')
    }
    expect(turns).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  test('is free where it could not be seen who else is at work', async ({ memory, tables }) => {
    const runs = runsStore(tables.deposits)
    memory.throttles = ({ action }) => action === 'Query'
    await expect(runs.takeLease(of, 'one', { now: 0, until: 90_000 })).rejects.toThrow('Throughput')
    memory.reset()
    expect(await runs.takeLease(of, 'another', { now: MINUTE, until: MINUTE + 90_000 })).toBeTypeOf('number')
  })

  test('is recorded beside the lease of a chain that an earlier version wrote', async ({ tables }) => {
    const runs = runsStore(tables.deposits)
    const earlier = { pk: 'LEASE#1', sk: 'LEASE', leaseOwner: 'earlier', leaseUntil: 0 }
    await tables.deposits.putMany([earlier])
    expect(await runs.takeLease(of, 'one', { now: 0, until: 90_000 })).toBeTypeOf('number')
    expect(await runs.listLast(1)).toEqual([])
  })
})
