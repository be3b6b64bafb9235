import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { moversOf } from '../../../functions/markets/top-gainers-losers/movers.ts'
import type { MarketCoin } from '../../../lib/markets/coin.ts'
import { conversionInto } from '../../../lib/markets/convert.ts'

const DOLLARS = conversionInto('usd', undefined)

function someCoin(changes: Partial<MarketCoin>): MarketCoin {
  const coin = { id: 'coin', symbol: 'c', name: 'Coin', image: '', rank: 1, price: 1, marketCap: 1, volume: 50_000 }
  return { ...coin, change24h: 1, ...changes }
}

const idsOf = (movers: readonly { coin: MarketCoin }[]) => movers.map(({ coin }) => coin.id)

describe('The movers', () => {
  test('gain above zero and lose below it', () => {
    const changes = [5, 0, -3, 0.001, -0.001, -99.9]
    const { gainers, losers } = moversOf(
      changes.map((change24h) => someCoin({ id: `${change24h}`, change24h })),
      DOLLARS,
    )
    expect(idsOf(gainers)).toEqual(['5', '0.001'])
    expect(idsOf(losers)).toEqual(['-99.9', '-3', '-0.001'])
  })

  test.for<[string, Partial<MarketCoin>]>([
    ['a change', { change24h: null }],
    ['a price', { price: null }],
    ['a volume', { volume: null }],
    ['a volume of 50,000 dollars', { volume: 49_999.99 }],
  ])('leave out what has not %s', ([, changes]) => {
    expect(moversOf([someCoin(changes)], DOLLARS)).toEqual({ gainers: [], losers: [] })
  })

  test('are measured in the currency: a gain in dollars can be a loss', () => {
    const rates = { eur: { now: 0.8, dayAgo: 0.9 }, gbp: { now: 0.8 } }
    const kept = { value: rates, asOf: new Date(0), isStale: false }
    const coins = [someCoin({ id: 'little', change24h: 2 }), someCoin({ id: 'much', change24h: 50 })]
    const { gainers, losers } = moversOf(coins, conversionInto('eur', kept))
    expect(idsOf(gainers)).toEqual(['much'])
    expect(idsOf(losers)).toEqual(['little'])
    expect(losers[0]?.change).toBeCloseTo((1.02 * 0.8) / 0.9 / 0.01 - 100, 9)
    expect(losers[0]).toMatchObject({ price: 0.8, volume: 40_000 })
    expect(moversOf(coins, conversionInto('gbp', kept))).toEqual({ gainers: [], losers: [] })
  })

  test('are the 30 largest on each side, the largest first', () => {
    const coins = fc.array(
      fc.record({ change24h: fc.double({ min: -99, max: 500, noNaN: true }), volume: fc.constantFrom(1, 50_000, 1e9) }),
      { maxLength: 120 },
    )
    fc.assert(
      fc.property(coins, (changes) => {
        const market = changes.map((change, index) => someCoin({ id: index.toString(), ...change }))
        const { gainers, losers } = moversOf(market, DOLLARS)
        const sizes = market.filter(({ volume }) => volume !== 1).map(({ change24h }) => change24h ?? 0)
        const up = sizes.filter((size) => size > 0).toSorted((left, right) => right - left)
        const down = sizes.filter((size) => size < 0).toSorted((left, right) => left - right)
        expect(gainers.map(({ change }) => change)).toEqual(up.slice(0, 30))
        expect(losers.map(({ change }) => change)).toEqual(down.slice(0, 30))
      }),
    )
  })
})
