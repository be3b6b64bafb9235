import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { listTopMovers } from '../../../functions/markets/top-gainers-losers/handler.ts'
import { EXCHANGE_RATES_KEY, MARKET_DATA_KEY } from '../../../lib/markets/cache-keys.ts'
import type { MarketCoin } from '../../../lib/markets/coin.ts'
import type { Currency } from '../../../lib/markets/currency.ts'
import { test as base, CALL_CONTEXT } from '../../support/markets.ts'
import { scaleSampleCount } from '../../support/runs.ts'

const test = base.extend('moversOf', ({ world }) => async (market: MarketCoin[], currency: Currency = 'usd') => {
  await world.cache.put(MARKET_DATA_KEY, market)
  const { value } = await listTopMovers(world)({ ...CALL_CONTEXT, query: { currency } })
  return { gainers: value.top_gainers, losers: value.top_losers }
})

function someCoin(changes: Partial<MarketCoin>): MarketCoin {
  const coin = { id: 'coin', symbol: 'c', name: 'Coin', image: '', rank: 1, price: 1, marketCap: 1, volume: 50_000 }
  return { ...coin, change24h: 1, ...changes }
}

const idsOf = (movers: readonly { id: string }[]) => movers.map(({ id }) => id)

describe('The movers', () => {
  test('gain above zero and lose below it', async ({ moversOf }) => {
    const changes = [5, 0, -3, 0.001, -0.001, -99.9]
    const { gainers, losers } = await moversOf(changes.map((change24h) => someCoin({ id: `${change24h}`, change24h })))
    expect(idsOf(gainers)).toEqual(['5', '0.001'])
    expect(idsOf(losers)).toEqual(['-99.9', '-3', '-0.001'])
  })

  test.for<[string, Partial<MarketCoin>]>([
    ['a change', { change24h: null }],
    ['a price', { price: null }],
    ['a volume', { volume: null }],
    ['a volume of 50,000 dollars', { volume: 49_999.99 }],
  ])('leave out a coin without %s', async ([, changes], { moversOf }) => {
    expect(await moversOf([someCoin(changes)])).toEqual({ gainers: [], losers: [] })
  })

  test('are measured in the currency: a gain in dollars can be a loss', async ({ moversOf, cache }) => {
    await cache.put(EXCHANGE_RATES_KEY, { eur: { now: 0.8, dayAgo: 0.9 }, gbp: { now: 0.8 } })
    const coins = [someCoin({ id: 'little', change24h: 2 }), someCoin({ id: 'much', change24h: 50 })]
    const { gainers, losers } = await moversOf(coins, 'eur')
    expect(idsOf(gainers)).toEqual(['much'])
    expect(idsOf(losers)).toEqual(['little'])
    expect(losers[0]?.price_change_percentage_24h).toBeCloseTo((1.02 * 0.8) / 0.9 / 0.01 - 100, 9)
    expect(losers[0]).toMatchObject({ current_price: 0.8, eur_24h_vol: 40_000 })
    expect(await moversOf(coins, 'gbp')).toEqual({ gainers: [], losers: [] })
  })

  test('are the 30 largest on each side, the largest first', async ({ moversOf }) => {
    const coins = fc.array(
      fc.record({ change24h: fc.double({ min: -99, max: 500, noNaN: true }), volume: fc.constantFrom(1, 50_000, 1e9) }),
      { maxLength: 120 },
    )
    await fc.assert(
      fc.asyncProperty(coins, async (changes) => {
        const market = changes.map((change, index) => someCoin({ id: index.toString(), ...change }))
        const { gainers, losers } = await moversOf(market)
        const sizes = market.filter(({ volume }) => volume !== 1).map(({ change24h }) => change24h ?? 0)
        const up = sizes.filter((size) => size > 0).toSorted((left, right) => right - left)
        const down = sizes.filter((size) => size < 0).toSorted((left, right) => left - right)
        expect(gainers.map((mover) => mover.price_change_percentage_24h)).toEqual(up.slice(0, 30))
        expect(losers.map((mover) => mover.price_change_percentage_24h)).toEqual(down.slice(0, 30))
      }),
      { numRuns: scaleSampleCount(25) },
    )
  })
})
