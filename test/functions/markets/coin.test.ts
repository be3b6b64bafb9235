import { describe, expect } from 'vitest'
import { coinById } from '../../../functions/markets/coin/coin.ts'
import { searchPriced } from '../../../functions/markets/search/search.ts'
import { MARKET, RATES } from '../../../lib/markets/cached.ts'
import type { MarketCoin } from '../../../lib/markets/coin.ts'
import { captureLogs } from '../../support/logs.ts'
import { test as base, SOURCE_FAILURES, START } from '../../support/markets.ts'

const BITCOIN: MarketCoin = {
  id: 'bitcoin',
  symbol: 'btc',
  name: 'Bitcoin',
  image: 'https://images.example/bitcoin.png',
  rank: 1,
  price: 90_000,
  marketCap: 1.8e12,
  volume: 3e10,
  change24h: 25,
}
const UNPRICED: MarketCoin = { ...BITCOIN, id: 'ethereum', price: null, marketCap: null, volume: null, change24h: null }

const test = base.extend('world', async ({ world }) => {
  await world.cache.put(MARKET, [BITCOIN, UNPRICED])
  await world.cache.put(RATES, { usd: { now: 1, dayAgo: 1 }, eur: { now: 0.8, dayAgo: 0.9 } })
  return world
})

const UNKNOWN = {
  high24h: null,
  low24h: null,
  priceChange24h: null,
  circulatingSupply: null,
  totalSupply: null,
  maxSupply: null,
  allTimeHigh: null,
  allTimeLow: null,
}

describe('A coin', () => {
  test('is fresh for a minute', async ({ world, clock }) => {
    await coinById(world, 'bitcoin', 'eur')
    clock.pass(59)
    expect(await coinById(world, 'bitcoin', 'eur')).toMatchObject({ asOf: new Date(START), isStale: false })
    clock.pass(1)
    expect(await coinById(world, 'bitcoin', 'eur')).toMatchObject({ asOf: new Date(clock.now()), isStale: false })
    expect(world.fakes.coinGecko.requests).toHaveLength(2)
  })
})

describe.for(SOURCE_FAILURES)('While CoinGecko %s,', ([, fail]) => {
  test('a coin is told as the kept market has it, converted', async ({ world }) => {
    world.fakes.coinGecko.rewrite = fail
    const { value, isStale, asOf } = await coinById(world, 'bitcoin', 'eur')
    expect({ isStale, asOf }).toEqual({ isStale: false, asOf: new Date(START) })
    expect(value).toEqual({
      ...BITCOIN,
      ...UNKNOWN,
      price: 72_000,
      marketCap: 1.44e12,
      volume: 2.4e10,
      // 1.25 · 0.8 / 0.9 − 1
      change24h: expect.closeTo(11.111111111, 8),
      updatedAt: START,
      platforms: {},
    })
    expect(world.fakes.defiLlama.requests).toEqual([])
  })

  test('a search that is kept stands in with the prices of the kept market', async ({ world, clock }) => {
    captureLogs()
    await searchPriced(world, 'BITcoin', 'eur')
    world.fakes.coinGecko.rewrite = fail
    clock.pass(3601)
    await world.cache.put(MARKET, [BITCOIN])
    const { value, isStale, asOf } = await searchPriced(world, 'bitcoin', 'eur')
    expect({ isStale, asOf }).toEqual({ isStale: true, asOf: new Date(START) })
    expect(value).toMatchObject([{ id: 'bitcoin', price: 72_000, change24h: expect.closeTo(11.111111111, 8) }])
  })
})

describe('While CoinGecko is down,', () => {
  const downTest = test.extend('world', ({ world }) => {
    captureLogs()
    world.fakes.coinGecko.rewrite = () => 'hang up'
    return world
  })

  downTest('a coin that the market has no price of has that of DefiLlama', async ({ world }) => {
    const { value, isStale } = await coinById(world, 'ethereum', 'usd')
    expect(isStale).toBe(false)
    expect(value).toEqual({
      ...UNPRICED,
      ...UNKNOWN,
      price: expect.any(Number),
      updatedAt: START,
      platforms: expect.any(Object),
    })
    await coinById(world, 'ethereum', 'usd')
    expect(world.fakes.defiLlama.requests).toEqual(['/prices/current/coingecko:ethereum'])
  })

  downTest(
    'a market that is too old gives way to DefiLlama, and stands in, marked, when that is down too',
    async ({ world, clock }) => {
      clock.pass(3600)
      const { value, isStale } = await coinById(world, 'bitcoin', 'usd')
      expect(isStale).toBe(false)
      expect(value).toMatchObject({ name: 'Bitcoin', marketCap: null, volume: null, change24h: null })
      expect(value.price).not.toBe(BITCOIN.price)
      world.fakes.defiLlama.rewrite = () => 'hang up'
      clock.pass(3601)
      expect(await coinById(world, 'bitcoin', 'usd')).toMatchObject({
        value: { price: BITCOIN.price, updatedAt: START },
        isStale: true,
        asOf: new Date(START),
      })
    },
  )

  downTest('a coin or a currency that is not kept is not there', async ({ world }) => {
    for (const [id, currency] of [
      ['solana', 'usd'],
      ['bitcoin', 'chf'],
    ] as const) {
      await expect(coinById(world, id, currency)).rejects.toMatchObject({ code: 'upstream_unavailable' })
    }
    await expect(searchPriced(world, 'bitcoin', 'usd')).rejects.toMatchObject({ code: 'upstream_unavailable' })
  })

  test('what was told of a coin stands in, until the kept market is newer', async ({ world, clock }) => {
    captureLogs()
    const { value } = await coinById(world, 'bitcoin', 'eur')
    world.fakes.coinGecko.rewrite = () => 'hang up'
    clock.pass(61)
    expect(await coinById(world, 'bitcoin', 'eur')).toEqual({ value, asOf: new Date(START), isStale: true })
    clock.pass(60)
    await world.cache.put(MARKET, [BITCOIN])
    await world.cache.put(RATES, { eur: { now: 0.8 } })
    expect(await coinById(world, 'bitcoin', 'eur')).toMatchObject({
      value: { price: 72_000, high24h: null },
      asOf: new Date(clock.now()),
      isStale: false,
    })
  })

  test('what was told of a coin that is not in the market stands in for a day', async ({ world, clock }) => {
    captureLogs()
    const { value } = await coinById(world, 'made-up-coin-200', 'eur')
    world.fakes.coinGecko.rewrite = () => 'hang up'
    clock.pass(23 * 3600)
    expect(await coinById(world, 'made-up-coin-200', 'eur')).toEqual({ value, asOf: new Date(START), isStale: true })
  })
})

describe('While CoinGecko tells no prices of what it finds,', () => {
  test('the kept market does, and what is not there has none', async ({ world }) => {
    world.fakes.coinGecko.rewrite = (reply, { url }) => (url.pathname.endsWith('/coins/markets') ? 'hang up' : reply)
    const { value, isStale } = await searchPriced(world, 'coin', 'usd')
    expect(isStale).toBe(false)
    expect(value).toHaveLength(100)
    expect(value[0]).toMatchObject({ id: 'bitcoin', price: 90_000, change24h: 25 })
    expect(value[1]).toMatchObject({ price: null, change24h: null })
  })

  test('and no rate is kept, the coins are found without prices, which is said', async ({ world }) => {
    world.fakes.coinGecko.rewrite = (reply, { url }) => (url.pathname.endsWith('/coins/markets') ? 'hang up' : reply)
    const { value, isStale } = await searchPriced(world, 'bitcoin', 'chf')
    expect(isStale).toBe(true)
    expect(value).toMatchObject([{ id: 'bitcoin', price: null, change24h: null }])
  })
})
