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
  test('one alone is recorded at a time, whoever asks at the same time', async ({ dynamo, tableNames }) => {
    const runs = runsStore(dynamo, tableNames.deposits)
    const groups = ['', '0', '00', '01', '1', '10', '101']
    for (let round = 0; round < 4; round += 1) {
      const now = 1_000 + round
      const asked = groups.toSorted(() => Math.random() - 0.5)
      const taken = await Promise.all(
        asked.map((group) => runs.takeLease({ chainId: round, group }, group, { now, until: now + 10 })),
      )
      const holders = asked.filter((_, index) => taken[index])
      expect(holders.length).toBeLessThanOrEqual(4)
      for (const one of holders) {
        expect(holders.filter((other) => overlap(one, other))).toEqual([one])
        expect(await runs.keepLease({ chainId: round, group: one }, one, now + 20)).toBe(true)
      }
    }
  })

  test('one that has run out is lost as soon as another is taken, and not before', async ({ dynamo, tableNames }) => {
    const runs = runsStore(dynamo, tableNames.deposits)
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
