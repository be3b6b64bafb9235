import { expect, test } from 'vitest'
import { priceStore } from '../../../lib/vaults/price-store.ts'
import type { BlockPrice } from '../../../lib/vaults/prices.ts'
import { createCountingTables, createVirtualClock } from '../../support/counted.ts'

const HOUR = 3_600n
const DAY = 86_400n
/** Start of a UTC day, in seconds since 1970. */
const START = 20_000n * DAY
const vault = { chainId: 8453, address: '0x00000000000000000000000000000000000000aa' } as const

const at = (hours: number, price: bigint): BlockPrice => ({
  price,
  timestamp: START + BigInt(hours * 3_600),
  blockNumber: BigInt(hours * 1_800),
})

function openStore() {
  const { tables } = createCountingTables(createVirtualClock(), 0)
  const prices = priceStore(tables.deposits)
  const list = async (interval: 'hour' | 'day', since = 0n) =>
    (await prices.list(vault, interval, since)).map(({ price }) => price)
  return { prices, list }
}

test('An hour keeps its last price, and a UTC day its first', async () => {
  const { prices, list } = openStore()
  await prices.record([{ vault, prices: [at(1.25, 2n), at(1, 1n), at(2, 3n), at(25, 4n), at(25.5, 5n)], known: [] }])
  expect(await list('hour')).toEqual([2n, 3n, 5n])
  expect(await list('day')).toEqual([1n, 4n])
  expect(await list('hour', START + 2n * HOUR)).toEqual([3n, 5n])
})

test('An older price replaces neither a later one of its hour nor an earlier one of its day', async () => {
  const { prices, list } = openStore()
  const head = at(30.5, 9n)
  await prices.record([{ vault, prices: [head], known: [] }])
  // The job stores the price at the newest block first. It stores older prices later, after their blocks became
  // final.
  await prices.record([{ vault, prices: [at(3, 1n), at(30.25, 8n)], known: [head] }])
  expect(await list('hour')).toEqual([1n, 9n])
  expect(await list('day')).toEqual([1n, 8n])
  await prices.record([{ vault, prices: [at(31, 10n)], known: [head] }])
  expect(await list('day')).toEqual([1n, 8n])
})

test('The last price before an hour is of an earlier hour, however long ago', async () => {
  const { prices } = openStore()
  await prices.record([{ vault, prices: [at(1, 1n), at(50, 2n)], known: [] }])
  expect(await prices.getLastBefore(vault, START + 50n * HOUR)).toMatchObject({ price: 1n })
  expect(await prices.getLastBefore(vault, START + 51n * HOUR)).toMatchObject({ price: 2n })
  expect(await prices.getLastBefore(vault, START + HOUR)).toBeUndefined()
})

test('Days are returned in order, with total assets if known, and undefined without a price', async () => {
  const { prices } = openStore()
  const storedPrice = { ...at(1, 1n), totalAssets: 77n }
  await prices.record([{ vault, prices: [storedPrice, at(49, 2n)], known: [] }])
  const days = await prices.getDays([49, 25, 1].map((hours) => ({ vault, at: START + BigInt(hours) * HOUR })))
  expect(days).toMatchObject([{ price: 2n }, undefined, { price: 1n }])
  expect(await prices.list(vault, 'day', 0n)).toEqual([
    { price: 1n, timestamp: storedPrice.timestamp, totalAssets: 77n },
    { price: 2n, timestamp: START + 49n * HOUR },
  ])
})
