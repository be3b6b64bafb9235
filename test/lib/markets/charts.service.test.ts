import { describe, expect } from 'vitest'
import { ChainParameter } from '../../../lib/markets/address.ts'
import { tokensKey } from '../../../lib/markets/cache-keys.ts'
import * as charts from '../../../lib/markets/charts.ts'
import type { DatedChart } from '../../../lib/markets/coin.ts'
import type { ChartRange, PriceSources } from '../../../lib/markets/source.ts'
import { captureLogs } from '../../support/logs.ts'
import { CALL_CONTEXT, CLOCK_START, DAI, SOURCE_FAILURES, someSource, test } from '../../support/markets.ts'

const DAY = { currency: 'usd', days: 1 } as const
const EUROS = { currency: 'eur', days: 1 } as const
const ALL = { currency: 'usd', days: 'max' } as const
const { payFor } = CALL_CONTEXT
const BASE = ChainParameter.parse('base-mainnet')
const CHART: DatedChart = { chart: { prices: [[CLOCK_START, 7]], marketCaps: [], volumes: [] }, days: 1 }

const chartById = (services: Parameters<typeof charts.getChartById>[0], id: string, span: ChartRange) =>
  charts.getChartById(services, { id, ...span, payFor })

describe('A chart', () => {
  test.for<[number | 'max', number]>([
    [1, 60],
    [2, 1800],
    [90, 1800],
    [91, 12 * 3600],
    ['max', 12 * 3600],
  ])('of %s days is fresh for %i seconds', async ([days, seconds], { world, clock }) => {
    const span = { currency: 'usd', days } as const
    await chartById(world, 'bitcoin', span)
    const before = world.fakes.coinGecko.requests.length
    clock.pass(seconds - 1)
    expect(await chartById(world, 'bitcoin', span)).toMatchObject({ asOf: new Date(CLOCK_START), isStale: false })
    expect(world.fakes.coinGecko.requests).toHaveLength(before)
    clock.pass(1)
    expect(await chartById(world, 'bitcoin', span)).toMatchObject({ asOf: new Date(clock.now()), isStale: false })
    expect(world.fakes.coinGecko.requests.length).toBeGreaterThan(before)
  })

  test('of an unknown token is requested again after five minutes', async ({ world, clock }) => {
    const ask = () => chartById(world, 'newcomer', ALL)
    await expect(ask()).rejects.toMatchObject({ code: 'token_not_found' })
    clock.pass(299)
    await expect(ask()).rejects.toMatchObject({ code: 'token_not_found' })
    const before = world.fakes.coinGecko.requests.length
    clock.pass(1)
    await expect(ask()).rejects.toMatchObject({ code: 'token_not_found' })
    expect(world.fakes.coinGecko.requests.length).toBeGreaterThan(before)
  })
})

describe('The order of the sources', () => {
  test('decides: a chart that the first does not know comes from the next', async ({ world }) => {
    const knowing = someSource({ fetchChart: async () => CHART })
    const first = await chartById({ ...world, priceSources: [knowing, ...world.priceSources] }, 'bitcoin', DAY)
    expect(first.value.prices).toEqual(CHART.chart.prices)
    expect(world.fakes.coinGecko.requests).toEqual([])
    const { value } = await chartById(
      { ...world, priceSources: [someSource(), ...world.priceSources] },
      'ethereum',
      DAY,
    )
    expect(value.prices.length).toBeGreaterThan(200)
  })

  test('skips those without charts in the currency', async ({ world }) => {
    const inDollars = someSource({ currencies: ['usd'], fetchChart: async () => CHART })
    const { value } = await chartById({ ...world, priceSources: [inDollars, ...world.priceSources] }, 'bitcoin', EUROS)
    expect(value.prices.length).toBeGreaterThan(200)
    await expect(chartById({ ...world, priceSources: [inDollars] }, 'ethereum', EUROS)).rejects.toMatchObject({
      code: 'upstream_unavailable',
    })
  })
})

describe.for(SOURCE_FAILURES)('While CoinGecko %s,', ([, fail]) => {
  test('a chart in dollars has only prices of DefiLlama, from one request', async ({ world }) => {
    captureLogs()
    world.fakes.coinGecko.rewrite = fail
    const answers = await Promise.all(Array.from({ length: 10 }, () => chartById(world, 'bitcoin', DAY)))
    for (const { value, isStale } of answers) {
      expect(isStale).toBe(false)
      expect(value.prices.length).toBeGreaterThan(200)
      expect(value).toMatchObject({ days: 1, truncated: false, market_caps: [], total_volumes: [] })
    }
    expect(world.fakes.defiLlama.requests).toHaveLength(1)
  })

  test('a chart in another currency is missing, never one in dollars', async ({ world }) => {
    world.fakes.coinGecko.rewrite = fail
    await expect(chartById(world, 'bitcoin', EUROS)).rejects.toMatchObject({
      code: expect.stringMatching(/^upstream_/),
    })
    expect(world.fakes.defiLlama.requests).toEqual([])
  })

  test('a stale chart is returned for a day, marked as stale', async ({ world, clock }) => {
    captureLogs()
    const { value } = await chartById(world, 'bitcoin', EUROS)
    world.fakes.coinGecko.rewrite = fail
    for (const hours of [1, 22]) {
      clock.pass(hours * 3600)
      expect(await chartById(world, 'bitcoin', EUROS)).toEqual({ value, asOf: new Date(CLOCK_START), isStale: true })
    }
    clock.pass(3601)
    await expect(chartById(world, 'bitcoin', EUROS)).rejects.toMatchObject({
      code: expect.stringMatching(/^upstream_/),
    })
  })
})

describe('While CoinGecko is down,', () => {
  test('a recently stale chart in dollars is returned, and an older one is replaced by DefiLlama’s', async ({
    world,
    clock,
  }) => {
    captureLogs()
    const { value } = await chartById(world, 'bitcoin', DAY)
    world.fakes.coinGecko.rewrite = () => 'hang up'
    clock.pass(90)
    expect(await chartById(world, 'bitcoin', DAY)).toMatchObject({ value, isStale: true })
    expect(world.fakes.defiLlama.requests).toEqual([])
    clock.pass(60)
    const substitute = await chartById(world, 'bitcoin', DAY)
    expect(substitute).toMatchObject({ asOf: new Date(clock.now()), isStale: false })
    expect(substitute.value.total_volumes).toEqual([])
    world.fakes.defiLlama.rewrite = () => 'hang up'
    clock.pass(3601)
    expect(await chartById(world, 'bitcoin', DAY)).toMatchObject({ value, isStale: true })
  })

  test('a chart by address comes from DefiLlama by the address', async ({ world }) => {
    world.fakes.coinGecko.rewrite = () => 'hang up'
    await world.cache.put(tokensKey('base-mainnet'), [])
    const { value } = await charts.getChartByAddress(world, {
      network: BASE,
      address: DAI.address,
      ...DAY,
      payFor,
    })
    expect(value.prices.length).toBeGreaterThan(200)
    expect(world.fakes.defiLlama.requests[0]).toContain(`/chart/base:${DAI.address}`)
  })

  test('a chart that DefiLlama does not know comes from the next source', async ({ world }) => {
    world.fakes.coinGecko.rewrite = () => 'hang up'
    const priceSources: PriceSources = [...world.priceSources, someSource({ fetchChart: async () => CHART })]
    const { value } = await chartById({ ...world, priceSources }, 'no-such-coin', DAY)
    expect(value.prices).toEqual(CHART.chart.prices)
  })

  test('a chart that DefiLlama does not know either has CoinGecko’s error', async ({ world }) => {
    world.fakes.coinGecko.rewrite = () => 'hang up'
    await expect(chartById(world, 'no-such-coin', DAY)).rejects.toMatchObject({ code: 'upstream_unavailable' })
    world.fakes.defiLlama.rewrite = () => 'hang up'
    await expect(chartById(world, 'ethereum', DAY)).rejects.toMatchObject({ code: 'upstream_unavailable' })
  })

  test("CoinGecko's own chart returns as soon as CoinGecko does", async ({ world, clock }) => {
    world.fakes.coinGecko.rewrite = () => 'hang up'
    await chartById(world, 'bitcoin', ALL)
    world.fakes.coinGecko.rewrite = undefined
    clock.pass(5)
    const { value } = await chartById(world, 'bitcoin', ALL)
    expect(value.total_volumes.length).toBeGreaterThan(300)
  })
})
