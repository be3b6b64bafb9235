import { type Address, getAddress, numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { initialProgress, recordingStore } from '../../../lib/activity/store.ts'
import { priceStore } from '../../../lib/vaults/price-store.ts'
import { addPrices } from '../../../lib/vaults/prices.ts'
import type { VaultKey } from '../../../lib/vaults/vault.ts'
import { yieldLookup } from '../../../lib/vaults/yields.ts'
import { createCountingTables, createVirtualClock } from '../../support/counted.ts'
import { NO_YIELDS } from '../../support/no-yields.ts'

const DAY = 86_400
/** Noon of a UTC day, in seconds since 1970. */
const NOW = 20_000 * DAY + DAY / 2
const vaultAt = (index: number): VaultKey => ({
  chainId: 8453,
  address: getAddress(numberToHex(index + 1, { size: 20 })) as Address,
})

function openRecords() {
  const clock = createVirtualClock(NOW * 1000)
  const { tables, requests } = createCountingTables(clock, 0)
  const [records, prices] = [recordingStore(tables.deposits), priceStore(tables.deposits)]
  const getYield = yieldLookup({ records, prices, now: clock.now })
  async function record(vault: VaultKey, past: readonly (readonly [daysAgo: number, price: bigint])[]) {
    const added = past
      .toSorted(([left], [right]) => right - left)
      .map(([daysAgo, price], index) => ({
        price,
        timestamp: BigInt(Math.floor(NOW - daysAgo * DAY)),
        blockNumber: BigInt(index),
      }))
    await prices.record([{ vault, prices: added, known: [] }])
    const [before] = await records.getProgress([vault])
    const progress = { ...initialProgress({ firstBlock: 0 }), version: before?.version, timestamp: BigInt(NOW) }
    await records.putProgress([[vault, { ...progress, ...addPrices(progress, added, -1n) }]])
  }
  return { clock, records, record, getYield, requests }
}

describe('The yield of recorded prices', () => {
  test('compares with the first price of the day at the start of its range', async () => {
    const { record, getYield } = openRecords()
    await record(
      vaultAt(0),
      // The vault has one price for each hour of 100 days.
      Array.from({ length: 100 * 24 }, (_, index) => [index / 24, 1_000_000n - BigInt(index)] as const),
    )
    const { annualYield, annualYields, growth } = await getYield(vaultAt(0), 1_000_000n)
    expect(annualYield).toEqual(annualYields['7d'])
    expect([annualYields['7d'], annualYields['30d'], annualYields['90d']].map((one) => one?.days)).toEqual([
      7.5, 30.5, 90.5,
    ])
    expect(growth).toBeNull()
  })

  test('is 0.00 at every age if the price never changed', async () => {
    for (const age of [7, 7.4, 8, 29, 30, 31, 90, 91, 400]) {
      const { record, getYield } = openRecords()
      await record(vaultAt(0), [
        [age, 1_000_000n],
        [age / 3, 1_000_000n],
        [0.01, 1_000_000n],
      ])
      const { annualYield, annualYields } = await getYield(vaultAt(0), 1_000_000n)
      expect(annualYield).toMatchObject({ percent: '0.00' })
      for (const one of Object.values(annualYields)) expect(one?.percent ?? '0.00').toBe('0.00')
    }
  })

  test('compares with the last earlier price if that day has none', async () => {
    const { record, getYield } = openRecords()
    await record(vaultAt(0), [
      [40, 900_000n],
      [14, 990_000n],
      [3, 995_000n],
    ])
    const { annualYields } = await getYield(vaultAt(0), 1_000_000n)
    expect(annualYields).toMatchObject({ '7d': { days: 14 }, '30d': { days: 40 }, '90d': null })
  })

  test('has only the growth since the first price below seven days', async () => {
    const { record, getYield } = openRecords()
    await record(vaultAt(0), [
      [3, 1_000_000n],
      [1, 1_050_000n],
    ])
    const { annualYield, growth } = await getYield(vaultAt(0), 1_100_000n)
    expect({ annualYield, growth }).toMatchObject({ annualYield: null, growth: { percent: '10.00', days: 3 } })
  })
})

test('The yields of 200 vaults take eight table requests, then none within ten minutes', async () => {
  const { clock, record, getYield, requests } = openRecords()
  const vaults = Array.from({ length: 200 }, (_, index) => vaultAt(index))
  const past = [7, 30, 90, 100].map((days) => [days + 0.45, 999_000n] as const)
  for (const vault of vaults) await record(vault, past)
  const readAll = async () => {
    const before = requests()
    const at = new Date(NOW * 1000)
    const yields = await Promise.all(vaults.map((vault) => getYield(vault, 1_000_000n, at)))
    for (const { annualYields } of yields) expect(annualYields['90d']?.days).toBe(90.45)
    return requests() - before
  }
  expect(await readAll()).toBe(8)
  clock.set((NOW + 600) * 1000)
  expect(await readAll()).toBe(0)
})

test('A vault whose past is not fully recorded has no yield', async () => {
  const { clock, records, record, getYield } = openRecords()
  await record(vaultAt(0), [[100, 900_000n]])
  const [progress] = await records.getProgress([vaultAt(0)])
  if (!progress) throw new Error('nothing is recorded')
  await records.putProgress([[vaultAt(0), { ...progress, timestamp: BigInt(NOW - 60 * DAY) }]])
  expect(await getYield(vaultAt(0), 1_000_000n)).toEqual(NO_YIELDS)
  await record(vaultAt(0), [
    [100, 900_000n],
    [9, 990_000n],
  ])
  clock.set(NOW * 1000 + 6_000)
  expect(await getYield(vaultAt(0), 1_000_000n)).toMatchObject({ annualYield: { days: 9 } })
})

test('A vault younger than every range needs only one request for its progress', async () => {
  const { record, getYield, requests } = openRecords()
  await record(vaultAt(0), [[2, 1_000_000n]])
  const before = requests()
  await getYield(vaultAt(0), 1_000_000n)
  expect(requests() - before).toBe(1)
})
