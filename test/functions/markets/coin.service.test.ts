import { describe, expect } from 'vitest'
import { getCoin } from '../../../functions/markets/coin/handler.ts'
import { searchCoins } from '../../../functions/markets/search/handler.ts'
import { EXCHANGE_RATES_KEY, MARKET_DATA_KEY } from '../../../lib/markets/cache-keys.ts'
import type { MarketCoin } from '../../../lib/markets/coin.ts'
import type { Currency } from '../../../lib/markets/currency.ts'
import type { PriceSources } from '../../../lib/markets/source.ts'
import { captureLogs } from '../../support/logs.ts'
import { test as base, CALL_CONTEXT, CLOCK_START, SOURCE_FAILURES, someSource } from '../../support/markets.ts'

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

const test = base
  .extend('world', async ({ world }) => {
    await world.cache.put(MARKET_DATA_KEY, [BITCOIN, UNPRICED])
    await world.cache.put(EXCHANGE_RATES_KEY, { usd: { now: 1, dayAgo: 1 }, eur: { now: 0.8, dayAgo: 0.9 } })
    return world
  })
  .extend(
    'coinById',
    ({ world }) =>
      (id: string, currency: Currency, priceSources: PriceSources = world.priceSources) =>
        getCoin({ ...world, priceSources })({ ...CALL_CONTEXT, path: { id }, query: { currency } }),
  )
  .extend(
    'search',
    ({ world }) =>
      (search: string, currency: Currency) =>
        searchCoins(world)({ ...CALL_CONTEXT, query: { currency }, body: { search } }),
  )

/** Fields that are null unless CoinGecko's endpoint for a single coin was read. */
const BARE = {
  high_24h: null,
  low_24h: null,
  price_change_24h: null,
  circulating_supply: null,
  total_supply: null,
  max_supply: null,
  ath: null,
  atl: null,
  symbol: 'btc',
  name: 'Bitcoin',
  image: 'https://images.example/bitcoin.png',
  market_cap_rank: 1,
  last_updated: new Date(CLOCK_START),
}

describe('A coin', () => {
  test('is fresh for a minute', async ({ world, clock, coinById }) => {
    await coinById('bitcoin', 'eur')
    clock.pass(59)
    expect(await coinById('bitcoin', 'eur')).toMatchObject({ asOf: new Date(CLOCK_START), isStale: false })
    clock.pass(1)
    expect(await coinById('bitcoin', 'eur')).toMatchObject({ asOf: new Date(clock.now()), isStale: false })
    expect(world.fakes.coinGecko.requests).toHaveLength(2)
  })
})

describe.for(SOURCE_FAILURES)('While CoinGecko %s,', ([, fail]) => {
  test('a coin comes from the cached market, converted', async ({ world, coinById }) => {
    world.fakes.coinGecko.rewrite = fail
    const { value, isStale, asOf } = await coinById('bitcoin', 'eur')
    expect({ isStale, asOf }).toEqual({ isStale: false, asOf: new Date(CLOCK_START) })
    expect(value).toEqual({
      ...BARE,
      id: 'bitcoin',
      currency: 'eur',
      current_price: 72_000,
      market_cap: 1.44e12,
      total_volume: 2.4e10,
      // The change from the value a day ago is 1.25 · 0.8 / 0.9 − 1, in percent.
      price_change_percentage_24h: expect.closeTo(11.111111111, 8),
      platforms: {},
    })
    expect(world.fakes.defiLlama.requests).toEqual([])
  })

  test('a cached search is returned with the prices of the cached market', async ({ world, clock, search }) => {
    captureLogs()
    await search('BITcoin', 'eur')
    world.fakes.coinGecko.rewrite = fail
    clock.pass(3601)
    await world.cache.put(MARKET_DATA_KEY, [BITCOIN])
    const { value, isStale, asOf } = await search('bitcoin', 'eur')
    expect({ isStale, asOf }).toEqual({ isStale: true, asOf: new Date(CLOCK_START) })
    expect(value).toMatchObject([
      { id: 'bitcoin', current_price: 72_000, price_change_percentage_24h: expect.closeTo(11.111111111, 8) },
    ])
  })
})

describe('While CoinGecko is down,', () => {
  const downTest = test.extend('world', ({ world }) => {
    captureLogs()
    world.fakes.coinGecko.rewrite = () => 'hang up'
    return world
  })

  downTest('a coin without a price in the market has the price of DefiLlama', async ({ world, coinById }) => {
    const { value, isStale } = await coinById('ethereum', 'usd')
    expect(isStale).toBe(false)
    expect(value).toEqual({
      ...BARE,
      id: 'ethereum',
      currency: 'usd',
      current_price: expect.any(Number),
      market_cap: null,
      total_volume: null,
      price_change_percentage_24h: null,
      platforms: expect.any(Object),
    })
    await coinById('ethereum', 'usd')
    expect(world.fakes.defiLlama.requests).toEqual(['/prices/current/coingecko:ethereum'])
  })

  downTest(
    'DefiLlama replaces a market that is too old, which is returned as stale if DefiLlama is down too',
    async ({ world, clock, coinById }) => {
      clock.pass(3600)
      const { value, isStale } = await coinById('bitcoin', 'usd')
      expect(isStale).toBe(false)
      expect(value).toMatchObject({
        name: 'Bitcoin',
        market_cap: null,
        total_volume: null,
        price_change_percentage_24h: null,
      })
      expect(value.current_price).not.toBe(BITCOIN.price)
      world.fakes.defiLlama.rewrite = () => 'hang up'
      clock.pass(3601)
      expect(await coinById('bitcoin', 'usd')).toMatchObject({
        value: { current_price: BITCOIN.price, last_updated: new Date(CLOCK_START) },
        isStale: true,
        asOf: new Date(CLOCK_START),
      })
    },
  )

  downTest('a price that a failing source may know is not cached as missing', async ({ world, clock, coinById }) => {
    clock.pass(3600)
    world.fakes.defiLlama.rewrite = () => 'hang up'
    const ask = () => coinById('bitcoin', 'usd', [...world.priceSources, someSource()])
    expect(await ask()).toMatchObject({ value: { current_price: BITCOIN.price }, isStale: true })
    world.fakes.defiLlama.rewrite = undefined
    clock.pass(10)
    expect(await ask()).toMatchObject({ isStale: false })
  })

  downTest('a coin or a currency that is not cached is an upstream error', async ({ coinById, search }) => {
    for (const [id, currency] of [
      ['solana', 'usd'],
      ['bitcoin', 'chf'],
    ] as const) {
      await expect(coinById(id, currency)).rejects.toMatchObject({ code: 'upstream_unavailable' })
    }
    await expect(search('bitcoin', 'usd')).rejects.toMatchObject({ code: 'upstream_unavailable' })
  })

  test('the last response for a coin is returned until the cached market is newer', async ({
    world,
    clock,
    coinById,
  }) => {
    captureLogs()
    const { value } = await coinById('bitcoin', 'eur')
    world.fakes.coinGecko.rewrite = () => 'hang up'
    clock.pass(61)
    expect(await coinById('bitcoin', 'eur')).toEqual({ value, asOf: new Date(CLOCK_START), isStale: true })
    clock.pass(60)
    await world.cache.put(MARKET_DATA_KEY, [BITCOIN])
    await world.cache.put(EXCHANGE_RATES_KEY, { eur: { now: 0.8 } })
    expect(await coinById('bitcoin', 'eur')).toMatchObject({
      value: { current_price: 72_000, high_24h: null },
      asOf: new Date(clock.now()),
      isStale: false,
    })
  })

  test('the last response for a coin outside the market is returned for a day', async ({ world, clock, coinById }) => {
    captureLogs()
    const { value } = await coinById('made-up-coin-200', 'eur')
    world.fakes.coinGecko.rewrite = () => 'hang up'
    clock.pass(23 * 3600)
    expect(await coinById('made-up-coin-200', 'eur')).toEqual({ value, asOf: new Date(CLOCK_START), isStale: true })
  })
})

describe('While CoinGecko finds coins but returns no prices,', () => {
  test('prices come from the cached market, and other coins have none', async ({ world, search }) => {
    world.fakes.coinGecko.rewrite = (reply, { url }) => (url.pathname.endsWith('/coins/markets') ? 'hang up' : reply)
    const { value, isStale } = await search('coin', 'usd')
    expect(isStale).toBe(false)
    expect(value).toHaveLength(100)
    expect(value[0]).toMatchObject({ id: 'bitcoin', current_price: 90_000, price_change_percentage_24h: 25 })
    expect(value[1]).toMatchObject({ current_price: null, price_change_percentage_24h: null })
  })

  test('and no rate is cached, the coins have no prices and the response is stale', async ({ world, search }) => {
    world.fakes.coinGecko.rewrite = (reply, { url }) => (url.pathname.endsWith('/coins/markets') ? 'hang up' : reply)
    const { value, isStale } = await search('bitcoin', 'chf')
    expect(isStale).toBe(true)
    expect(value).toMatchObject([{ id: 'bitcoin', current_price: null, price_change_percentage_24h: null }])
  })
})
