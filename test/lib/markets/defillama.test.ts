import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Chart } from '../../../lib/markets/coin.ts'
import { createDefiLlama } from '../../../lib/markets/defillama.ts'
import { scaleSampleCount } from '../../support/runs.ts'
import { createFakeUpstream, type FakeReply } from '../../support/upstream.ts'

const NOW = Date.UTC(2026, 10, 21, 10, 30)
const SECONDS = NOW / 1000
const DAY_SECONDS = 86_400
const DAY = { currency: 'usd', days: 1 } as const
const USDC = 'base:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

const source = (reply: (url: URL) => FakeReply) => {
  const { ask, urls } = createFakeUpstream(reply)
  return { ...createDefiLlama(ask, { now: () => NOW }), urls }
}
const coin = (price: unknown, more = {}) => ({
  decimals: 6,
  symbol: 'USDC',
  price,
  timestamp: SECONDS - 30,
  confidence: 0.99,
  a_field_of_tomorrow: true,
  ...more,
})
const coinsIn = ({ pathname }: URL) => decodeURIComponent(pathname.split('/').at(-1) ?? '').split(',')

const NONSENSE: readonly (readonly [string, FakeReply, string])[] = [
  ['HTML', { body: '<html>Welcome</html>' }, 'upstream_bad_answer'],
  ['truncated JSON', { body: '{"coins":{"base:0x' }, 'upstream_bad_answer'],
  ['no coins', { body: {} }, 'upstream_bad_answer'],
  ['a list of coins', { body: { coins: [] } }, 'upstream_bad_answer'],
  ['a refusal', { status: 400, body: { message: 'use either start or end' } }, 'upstream_bad_answer'],
  ['a path that is not there', { status: 404, body: '<html></html>' }, 'upstream_bad_answer'],
  ['a limit', { status: 429, body: 'x', headers: { 'retry-after': '9' } }, 'upstream_unavailable'],
  ['a fault', { status: 502, body: 'x' }, 'upstream_unavailable'],
]

describe('Prices', () => {
  test('are requested in one path, and have their times', async () => {
    const { fetchPrices, urls } = source(() => ({
      body: {
        coins: { [USDC]: coin(0.9998), 'coingecko:bitcoin': { price: 92342, symbol: 'BTC', timestamp: SECONDS } },
      },
    }))
    expect(await fetchPrices([USDC, 'coingecko:bitcoin'])).toEqual(
      new Map([
        [USDC, { price: 0.9998, at: NOW - 30_000 }],
        ['coingecko:bitcoin', { price: 92342, at: NOW }],
      ]),
    )
    expect(urls.map(({ pathname }) => decodeURIComponent(pathname))).toEqual([
      `/api/prices/current/${USDC},coingecko:bitcoin`,
    ])
  })

  test('of another time are requested by its second', async () => {
    const at = new Date(NOW - DAY_SECONDS * 1000 + 999)
    const { fetchPrices, urls } = source(() => ({
      body: { coins: { [USDC]: coin(1, { timestamp: SECONDS - DAY_SECONDS - 3600 }) } },
    }))
    expect(await fetchPrices([USDC], at)).toEqual(
      new Map([[USDC, { price: 1, at: NOW - (DAY_SECONDS + 3600) * 1000 }]]),
    )
    expect(urls[0]?.pathname).toBe(`/api/prices/historical/${SECONDS - DAY_SECONDS}/${USDC}`)
  })

  test('have the requested names, in whatever letter case the response has them', async () => {
    const solana = 'solana:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
    const addresses = [USDC, USDC.toLowerCase(), solana]
    const { fetchPrices } = source(() => ({ body: { coins: { [USDC.toLowerCase()]: coin(1), [solana]: coin(2) } } }))
    const prices = await fetchPrices(addresses)
    expect([...prices].map(([name, { price }]) => [name, price])).toEqual([
      [USDC, 1],
      [USDC.toLowerCase(), 1],
      [solana, 2],
    ])
  })

  test.each([
    ['is older than a day', coin(1, { timestamp: SECONDS - DAY_SECONDS - 1 })],
    ['is of a day after tomorrow', coin(1, { timestamp: SECONDS + DAY_SECONDS + 1 })],
    ['has little confidence', coin(1, { confidence: 0.49 })],
    ['has an invalid confidence', coin(1, { confidence: 'high' })],
    ['is negative', coin(-1)],
    ['is null', coin(null)],
    ['is text', coin('1')],
    ['has no time', coin(1, { timestamp: undefined })],
    ['is null itself', null],
    ['is not an object', 7],
  ])('leave out one that %s, and keep the others', async (_, wrong) => {
    const { fetchPrices } = source(() => ({ body: { coins: { [USDC]: wrong, 'coingecko:dai': coin(1) } } }))
    expect([...(await fetchPrices([USDC, 'coingecko:dai', 'coingecko:unknown'])).keys()]).toEqual(['coingecko:dai'])
  })

  test.each([
    ['of a day ago', coin(1, { timestamp: SECONDS - DAY_SECONDS })],
    ['of half a confidence', coin(1, { confidence: 0.5 })],
    ['of zero', coin(0)],
  ])('keep one %s', async (_, price) => {
    const { fetchPrices } = source(() => ({ body: { coins: { [USDC]: price } } }))
    expect([...(await fetchPrices([USDC])).keys()]).toEqual([USDC])
  })

  test('of many coins are requested in batches, each coin once, with URLs below 8,000 characters', async () => {
    const anyCoin = fc.oneof(
      fc
        .tuple(fc.constantFrom('base', 'ethereum', 'arbitrum'), fc.bigInt({ min: 1n, max: 2n ** 160n - 1n }))
        .map(([prefix, address]) => `${prefix}:0x${address.toString(16).padStart(40, '0')}`),
      fc.string({ minLength: 1, maxLength: 60 }).map((id) => `coingecko:${id}`),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(anyCoin, { maxLength: 900, size: 'max' }), async (coins) => {
        const plain = coins.filter((name) => !name.includes(',') && !/[\uD800-\uDFFF]/.test(name))
        const { fetchPrices, urls } = source((url) => ({
          body: { coins: Object.fromEntries(coinsIn(url).map((name) => [name, coin(1)])) },
        }))
        const prices = await fetchPrices(plain)
        expect(new Set(prices.keys())).toEqual(new Set(plain))
        const requestedCoins = urls.flatMap(coinsIn)
        expect(requestedCoins.length).toBe(new Set(plain).size)
        for (const { href } of urls) expect(href.length).toBeLessThan(8_000)
      }),
      // A failing case is not shrunk, because shrinking a list of 900 coins would take minutes.
      { numRuns: scaleSampleCount(20), endOnFailure: true },
    )
  })

  test('of 300 tokens take three parallel requests', async () => {
    const coins = Array.from({ length: 300 }, (_, index) => `arbitrum:0x${index.toString(16).padStart(40, '0')}`)
    const { fetchPrices, urls } = source((url) => ({
      body: { coins: Object.fromEntries(coinsIn(url).map((name) => [name, coin(1)])) },
    }))
    expect((await fetchPrices(coins)).size).toBe(300)
    expect(urls).toHaveLength(3)
  })

  test('of no coins need no request', async () => {
    const { fetchPrices, urls } = source(() => ({ body: { coins: {} } }))
    expect(await fetchPrices([])).toEqual(new Map())
    expect(urls).toEqual([])
  })

  test('fail if one batch fails, because a missing price is not known to be missing', async () => {
    const coins = Array.from({ length: 300 }, (_, index) => `arbitrum:0x${index.toString(16).padStart(40, '0')}`)
    const { fetchPrices } = source((url) =>
      coinsIn(url).includes(coins[0] ?? '') ? { status: 429, body: '' } : { body: { coins: {} } },
    )
    await expect(fetchPrices(coins)).rejects.toMatchObject({ code: 'upstream_unavailable' })
  })

  test.each(NONSENSE)('that are %s are an error', async (_, reply, code) => {
    const { fetchPrices } = source(() => reply)
    await expect(fetchPrices([USDC])).rejects.toMatchObject({ code })
    await expect(fetchPrices([USDC], new Date(NOW))).rejects.toMatchObject({ code })
  })
})

describe('A chart', () => {
  const points = (...prices: unknown[]) =>
    prices.map((price, index) => ({ timestamp: SECONDS - 600 + index * 300, price }))
  const chartOf = async (body: unknown) =>
    (await source(() => ({ body })).fetchChart('coingecko:bitcoin', DAY))?.chart ?? null

  test('has only prices, ascending, each time once', async () => {
    const prices = [
      ...points(1, 2, 3).reverse(),
      { timestamp: SECONDS, price: 3.5 },
      null,
      ...points(null, -1, 'x'),
      {},
    ]
    const chart = await chartOf({ coins: { 'coingecko:bitcoin': { symbol: 'BTC', confidence: 0.99, prices } } })
    expect(chart).toEqual({
      prices: [
        [NOW - 600_000, 1],
        [NOW - 300_000, 2],
        [NOW, 3.5],
      ],
      marketCaps: [],
      volumes: [],
    })
    expect(Chart.parse(chart)).toEqual(chart)
  })

  test('is found in any letter case of its name', async () => {
    const { fetchChart } = source(() => ({ body: { coins: { [USDC.toLowerCase()]: { prices: points(1) } } } }))
    expect((await fetchChart(USDC, DAY))?.chart.prices).toHaveLength(1)
  })

  test.each([
    ['is not in the response', { coins: {} }],
    ['has no prices', { coins: { 'coingecko:bitcoin': { symbol: 'BTC', prices: [] } } }],
  ])('of a coin that %s is null', async (_, body) => {
    expect(await chartOf(body)).toBeNull()
  })

  test.each([
    ['no list of prices', { coins: { 'coingecko:bitcoin': { prices: {} } } }],
    ['only invalid prices', { coins: { 'coingecko:bitcoin': { prices: points(null) } } }],
    ['nothing in it', { coins: { 'coingecko:bitcoin': null } }],
  ])('with %s is upstream_bad_answer', async (_, body) => {
    await expect(chartOf(body)).rejects.toMatchObject({ code: 'upstream_bad_answer' })
  })

  test.each(NONSENSE)('that is %s is an error', async (_, reply, code) => {
    const { fetchChart } = source(() => reply)
    await expect(fetchChart(USDC, { currency: 'usd', days: 30 })).rejects.toMatchObject({ code })
  })

  test.each([
    [1, '5m', 289],
    [2, '1h', 49],
    [20, '1h', 481],
    [21, '2h', 253],
    [30, '2h', 361],
    [90, '6h', 361],
    [91, '1d', 92],
    [365, '1d', 366],
    [500, '2d', 251],
    [1_500, '4d', 376],
    [2_500, '1w', 358],
    [9_999, '1w', 500],
    ['max', '1w', 500],
  ] as const)('of %s days has a point every %s, %i in all, and ends now', async (days, period, span) => {
    const { fetchChart, urls } = source(() => ({ body: { coins: {} } }))
    await fetchChart(USDC, { currency: 'usd', days })
    expect(urls[0]?.pathname).toBe(`/api/chart/${USDC}`)
    expect(Object.fromEntries(urls[0]?.searchParams ?? [])).toMatchObject({
      end: SECONDS.toString(),
      span: span.toString(),
      period,
    })
  })

  test('of any number of days has at most 500 points that reach as far back as possible', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 20_000 }), async (days) => {
        const { fetchChart, urls } = source(() => ({ body: { coins: {} } }))
        await fetchChart(USDC, { currency: 'usd', days })
        const query = Object.fromEntries(urls[0]?.searchParams ?? [])
        const [, count, unit] = /^(\d+)([mhdw])$/.exec(query['period'] ?? '') ?? []
        const seconds = Number(count) * { m: 60, h: 3600, d: DAY_SECONDS, w: 7 * DAY_SECONDS }[unit as 'm']
        const span = Number(query['span'])
        expect(span).toBeLessThanOrEqual(500)
        if (span < 500) expect(Math.abs((span - 1) * seconds - days * DAY_SECONDS)).toBeLessThan(seconds)
        expect(Number(query['searchWidth'])).toBeGreaterThanOrEqual(seconds / 2)
      }),
    )
  })
})
